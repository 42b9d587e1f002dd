"""A chat model of the transformers library in this process, by default SmolLM2-135M-Instruct.

The token loop is ours because of two promises that ``generate()`` does not give: cancelling
takes effect within one step, and the sessions that are answered at once take turns step by
step, so that a long answer does not hold up a short one. Masks, caches, sampling rules and
decoding are the library's.
"""

from __future__ import annotations

import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any

import torch
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    RepetitionPenaltyLogitsProcessor,
)
from transformers.utils import logging as transformers_logging

from s2s_actors.backends.base import Call, ModelInfo
from s2s_actors.backends.chat import (
    ChatMessage,
    Finished,
    LlmRequest,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from s2s_actors.backends.chat_prompt import ChatPrompt
from s2s_actors.backends.cpu import float_type, use_torch_threads
from s2s_actors.backends.folded_attention import fold_attention
from s2s_actors.backends.forced_call import CallGrammar, ForcedCalls, forced_tools
from s2s_actors.backends.foreground import FOREGROUND
from s2s_actors.backends.gguf_conversion import converted
from s2s_actors.backends.packed_linear import pack
from s2s_actors.backends.prefix_cache import PrefixCache
from s2s_actors.backends.tool_call_parser import OPENING, ParsedCall, ParsedText, ToolCallParser
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.backends.weights import SMOLLM2, existing_path, looks_like_path
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from typing import Self

    from s2s_actors.backends.base import BackendOptions, Progress
    from s2s_actors.backends.chat import LlmEvent
    from s2s_actors.backends.prefix_cache import Reading

__all__ = ["TransformersChat"]

_MAX_OUTPUT_TOKENS = 200
# A processor reads some 700 tokens a second, and a chat that was cut at its beginning is read
# anew before the first word.
_CONTEXT_TOKENS_CPU, _CONTEXT_TOKENS_GPU = 2048, 16_384
# What the model reads in one step, some 0.2 s for 135 M parameters on 2 cores.
_PREFILL_TOKENS = 128
# Small models fall into loops under greedy decoding; the prompt is exempt, for a penalty on
# its words makes answers avoid what the question is about.
_PENALTY = RepetitionPenaltyLogitsProcessor(1.1)


class TransformersChat:
    """One model, one step at a time, and whoever has waited longest is next.

    Of each session's chat only what is new is read. That changes an answer no more than how the
    prompt is split does: not at all but for the rounding of bfloat16, which may decide between
    two words that are as likely as each other.
    """

    def __init__(self, model: Any, tokenizer: Any, info: ModelInfo) -> None:
        self.info = info
        self._model = model
        self._tokenizer = tokenizer
        self._turnstile = Turnstile()
        self.context_tokens = _context_tokens(model)
        self._longest_answer_tokens = self.context_tokens // 2
        self._prompt = ChatPrompt(tokenizer, self.context_tokens)
        self._stop_tokens = _stop_tokens(model, tokenizer)
        self._forced_calls = ForcedCalls(tokenizer)
        self._prefixes = PrefixCache(lambda: DynamicCache(config=model.config))

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Load the default model, or the one that ``--llm-model`` names.

        A path may be a directory as ``save_pretrained`` writes it, or a GGUF file, which is
        converted once. Any other name is a model on the hub or in its cache.

        Raises:
            SetupError: The weights are missing, or no chat model.
        """
        wanted = options.model
        use_torch_threads()
        if wanted is None or wanted == SMOLLM2.name:
            place: Path | str = converted(SMOLLM2.path(), progress)
            model_id, source = SMOLLM2.name, SMOLLM2.distribution
        elif looks_like_path(wanted):
            path = existing_path("--llm-model", wanted)
            model_id, source = path.stem if path.is_file() else path.name, str(path)
            place = converted(path, progress) if path.is_file() else path
        else:
            place = model_id = source = wanted
        model, tokenizer = _open(place, wanted or SMOLLM2.name)
        pack(model)
        fold_attention(model)
        info = ModelInfo(id=model_id, kind="llm", backend="transformers", source=source)
        return cls(model, tokenizer, info)

    def warm_up(self) -> None:
        """Write two tokens: the first steps allocate buffers and import what is lazy."""
        request = LlmRequest((ChatMessage("user", "Hello"),), max_output_tokens=2)
        for _ in self.generate(request, Call("warm-up", CancelToken())):
            pass
        self.forget("warm-up")

    def forget(self, session_id: str) -> None:
        """Drop what was kept of a session's chat."""
        self._prefixes.forget(session_id)

    def close(self) -> None:
        """Nothing to free: the weights go with the object."""

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Yield the answer token by token; calls come out when they are complete.

        Raises:
            StageError: The chat does not fit the model.
        """
        limit = min(request.max_output_tokens or _MAX_OUTPUT_TOKENS, self._longest_answer_tokens)
        prompt = self._prompt.tokens(request, limit)
        parser = ToolCallParser()
        stream = DecodeStream(skip_special_tokens=True)
        written = 0
        stopped = False
        grammar = self._grammar(request, parser)
        with closing(self._tokens(prompt, limit, call, grammar)) as tokens:
            for token in tokens:
                written += 1
                if token in self._stop_tokens:
                    stopped = True
                    break
                # None while a character is incomplete: broken UTF-8 never gets out.
                text = stream.step(self._tokenizer.backend_tokenizer, token)
                for parsed in parser.feed(text or ""):
                    yield from _events(parsed)
                if grammar is not None and grammar.is_over:
                    stopped = True
                    break
        if call.cancel.cancelled:
            return
        for parsed in parser.finish():
            yield from _events(parsed)
        yield Finished("stop" if stopped else "length", len(prompt), written)

    def _grammar(self, request: LlmRequest, parser: ToolCallParser) -> CallGrammar | None:
        """What the answer has to be, if it has to be a call; the parser is told that it is."""
        tools = forced_tools(request)
        if not tools:
            return None
        list(parser.feed(OPENING))
        return self._forced_calls.grammar(tools)

    def _tokens(
        self, prompt: list[int], limit: int, call: Call, grammar: CallGrammar | None
    ) -> Generator[int]:
        """Greedily chosen tokens, at most ``limit``; ends early once cancelled."""
        reading = self._prefixes.begin(call.session_id, prompt)
        unread = prompt[len(reading.tokens) :]
        written: list[int] = []
        try:
            while len(written) < limit:
                logits = self._read(unread, reading, call)
                if logits is None:
                    return
                token = _choice(logits, written, grammar)
                written.append(token)
                unread = [token]
                yield token
        finally:
            self._prefixes.keep(call.session_id, reading)

    def _read(self, unread: list[int], reading: Reading, call: Call) -> torch.Tensor | None:
        """Read on in turns; what may come next, or None once cancelled."""
        logits = None
        for start in range(0, len(unread), _PREFILL_TOKENS):
            FOREGROUND.give_way(call.urgency)
            with self._turnstile.turn(call.cancel, call.urgency) as go_on:
                if not go_on:
                    return None
                logits = self._step(unread[start : start + _PREFILL_TOKENS], reading)
        return logits

    def _step(self, piece: list[int], reading: Reading) -> torch.Tensor:
        with torch.inference_mode():
            ids = torch.tensor([piece], device=self._model.device)
            output = self._model(ids, cache=reading.cache, use_cache=True, logits_to_keep=1)
            reading.tokens += piece
            logits: torch.Tensor = output.logits[:, -1, :].float()
        return logits


def _choice(logits: torch.Tensor, written: list[int], grammar: CallGrammar | None) -> int:
    """The likeliest token; of a call, the likeliest one that its grammar allows."""
    with torch.inference_mode():
        if grammar is None:
            if written:
                logits = _PENALTY(torch.tensor([written], device=logits.device), logits)
            return int(logits.argmax())
        # JSON repeats its marks: no penalty on them.
        token = int(grammar.restrict(logits).argmax())
    grammar.take(token)
    return token


def _events(parsed: ParsedText | ParsedCall) -> Iterator[LlmEvent]:
    match parsed:
        case ParsedText(text):
            yield TextDelta(text)
        case ParsedCall(name, arguments):
            call_id = f"call_{uuid.uuid4().hex[:24]}"
            yield ToolCallStarted(call_id, name)
            yield ToolCallDelta(call_id, arguments)


def _context_tokens(model: Any) -> int:
    bearable = _CONTEXT_TOKENS_CPU if model.device.type == "cpu" else _CONTEXT_TOKENS_GPU
    return min(bearable, getattr(model.config, "max_position_embeddings", bearable))


def _stop_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    of_model = model.generation_config.eos_token_id
    several = of_model if isinstance(of_model, list) else [of_model]
    return frozenset(token for token in (*several, tokenizer.eos_token_id) if token is not None)


def _open(place: Path | str, name: str) -> tuple[Any, Any]:
    transformers_logging.disable_progress_bar()
    is_path = not isinstance(place, str)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(place), local_files_only=is_path)
        model = AutoModelForCausalLM.from_pretrained(
            str(place), dtype=float_type(), local_files_only=is_path
        )
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise SetupError(
            f"--llm-model {name}: not a chat model that transformers can load ({reason})"
        ) from error
    if not tokenizer.chat_template:
        raise SetupError(f"--llm-model {name}: its tokenizer has no chat template")
    if not tokenizer.is_fast:
        raise SetupError(f"--llm-model {name}: its tokenizer can't decode a stream (no fast one)")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.to(device).eval(), tokenizer
