"""A chat model of the transformers library in this process, by default SmolLM2-135M-Instruct.

The token loop is ours because of two promises that ``generate()`` does not give: cancelling
takes effect within one step, and the sessions that are answered at once take turns step by
step, so that a long answer does not hold up a short one. Masks, caches, sampling rules and
decoding are the library's.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import torch
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    LogitsProcessorList,
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
from s2s_actors.backends.forced_call import CallGrammar, ForcedCalls, forced_tools
from s2s_actors.backends.gguf_conversion import converted
from s2s_actors.backends.tool_call_parser import OPENING, ParsedCall, ParsedText, ToolCallParser
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.backends.weights import SMOLLM2, existing_path, looks_like_path
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from s2s_actors.backends.base import BackendOptions, Progress
    from s2s_actors.backends.chat import LlmEvent

__all__ = ["TransformersChat"]

_MAX_OUTPUT_TOKENS = 200
# A processor reads some 700 tokens a second, and all of the prompt comes before the first word.
_CONTEXT_TOKENS_CPU, _CONTEXT_TOKENS_GPU = 2048, 16_384
# What the model reads in one step, some 0.2 s for 135 M parameters on 2 cores.
_PREFILL_TOKENS = 128
# Small models fall into loops under greedy decoding; the prompt is exempt, for a penalty on
# its words makes answers avoid what the question is about.
_REPETITION_PENALTY = 1.1


class TransformersChat:
    """One model, one step at a time, and whoever has waited longest is next."""

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
        info = ModelInfo(id=model_id, kind="llm", backend="transformers", source=source)
        return cls(model, tokenizer, info)

    def warm_up(self) -> None:
        """Write two tokens: the first steps allocate buffers and import what is lazy."""
        request = LlmRequest((ChatMessage("user", "Hello"),), max_output_tokens=2)
        for _ in self.generate(request, Call("warm-up", CancelToken())):
            pass

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
        for token in self._tokens(prompt, limit, call, grammar):
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
    ) -> Iterator[int]:
        """Greedily chosen tokens, at most ``limit``; ends early once cancelled."""
        cache = DynamicCache(config=self._model.config)
        penalty = RepetitionPenaltyLogitsProcessor(
            _REPETITION_PENALTY, prompt_ignore_length=len(prompt)
        )
        rules = LogitsProcessorList([penalty])
        ids = torch.tensor([prompt], device=self._model.device)
        unread = ids
        for _ in range(limit):
            logits = None
            for piece in unread.split(_PREFILL_TOKENS, dim=1):
                with self._turnstile.turn(call.cancel, call.urgency) as go_on:
                    if not go_on:
                        return
                    logits = self._read(piece, cache)
            # JSON repeats its marks: no penalty on them.
            scores = rules(ids, logits) if grammar is None else grammar.restrict(logits)
            unread = scores.argmax(dim=-1, keepdim=True)
            ids = torch.cat([ids, unread], dim=1)
            token = int(unread.item())
            if grammar is not None:
                grammar.take(token)
            yield token

    def _read(self, piece: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
        with torch.inference_mode():
            output = self._model(piece, cache=cache, use_cache=True, logits_to_keep=1)
        logits: torch.Tensor = output.logits[:, -1, :].float()
        return logits


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
