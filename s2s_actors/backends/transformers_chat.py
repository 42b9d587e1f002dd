"""A chat model of the transformers library in this process, by default SmolLM2-135M-Instruct.

The token loop is ours because of promises that neither ``generate()`` nor the library's
continuous batching gives: cancelling takes effect within one step, answers join and leave before
any step, and a session goes on from what it has read itself, and from nothing else. Masks,
caches, sampling rules and decoding are the library's.
"""

from __future__ import annotations

import uuid
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
)
from transformers.utils import logging as transformers_logging

from s2s_actors.backends.answer import Answer
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
from s2s_actors.backends.cpu import CORES, MODEL_THREADS, float_type, use_torch_threads
from s2s_actors.backends.forced_call import CallGrammar, ForcedCalls, forced_tools
from s2s_actors.backends.gguf_conversion import converted
from s2s_actors.backends.growing_cache import empty_cache
from s2s_actors.backends.packed_linear import pack
from s2s_actors.backends.prefix_cache import PrefixCache
from s2s_actors.backends.row_attention import attend_in_rows, read_alone, read_rows
from s2s_actors.backends.step_batcher import StepBatcher
from s2s_actors.backends.step_plan import in_turn, together
from s2s_actors.backends.tool_call_parser import OPENING, ParsedCall, ParsedText, ToolCallParser
from s2s_actors.backends.weights import SMOLLM2, existing_path, looks_like_path
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from s2s_actors.backends.base import BackendOptions, Progress
    from s2s_actors.backends.chat import LlmEvent
    from s2s_actors.backends.step_plan import Share

__all__ = ["TransformersChat"]

_MAX_OUTPUT_TOKENS = 200
# A processor reads some 700 tokens a second, and a chat that was cut at its beginning is read
# anew before the first word.
_CONTEXT_TOKENS_CPU, _CONTEXT_TOKENS_GPU = 2048, 16_384
# A step of so few tokens is bound by reading the weights: two threads, which wait for each other
# 200 times in it, are no faster than one and take a third more CPU (41 ms and 52 ms of CPU for one
# token against 39 and 39, on 2 idle cores). 128 tokens they read in 154 ms instead of 190.
_FEW_TOKENS = 16


class TransformersChat:
    """One model, one step at a time, and each step goes on with all answers.

    Of each session's chat only what is new is read. Neither that nor who else is answered at the
    same time changes an answer, but for the rounding of bfloat16, which may decide between two
    words that are as likely as each other.
    """

    def __init__(self, model: Any, tokenizer: Any, info: ModelInfo) -> None:
        self.info = info
        self._model = model
        self._tokenizer = tokenizer
        self.context_tokens = _context_tokens(model)
        self._longest_answer_tokens = self.context_tokens // 2
        self._prompt = ChatPrompt(tokenizer, self.context_tokens)
        self._stop_tokens = _stop_tokens(model, tokenizer)
        self._forced_calls = ForcedCalls(tokenizer)
        self._prefixes = PrefixCache(lambda: empty_cache(model.config))
        self._reads_rows = attend_in_rows(model, empty_cache(model.config))
        self._batcher = StepBatcher(self._read, together if self._reads_rows else in_turn)

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
        reading = self._prefixes.begin(call.session_id, prompt)
        unread = prompt[len(reading.tokens) :]
        grammar = self._grammar(request, parser)
        answer = Answer(call, reading, unread, limit, self._stop_tokens, grammar)
        with closing(self._tokens(answer)) as tokens:
            for token in tokens:
                if token in self._stop_tokens:
                    break
                # None while a character is incomplete: broken UTF-8 never gets out.
                text = stream.step(self._tokenizer.backend_tokenizer, token)
                for parsed in parser.feed(text or ""):
                    yield from _events(parsed)
        if call.cancel.cancelled:
            return
        for parsed in parser.finish():
            yield from _events(parsed)
        yield Finished("stop" if answer.has_stopped else "length", len(prompt), len(answer.written))

    def _grammar(self, request: LlmRequest, parser: ToolCallParser) -> CallGrammar | None:
        """What the answer has to be, if it has to be a call; the parser is told that it is."""
        tools = forced_tools(request)
        if not tools:
            return None
        list(parser.feed(OPENING))
        return self._forced_calls.grammar(tools)

    def _tokens(self, answer: Answer) -> Generator[int]:
        """Greedily chosen tokens; ends early once cancelled. What was read is kept."""
        try:
            yield from self._batcher.tokens(answer)
        finally:
            self._prefixes.keep(answer.call.session_id, answer.reading)

    def _read(self, shares: Sequence[Share]) -> torch.Tensor:
        """Go on with one answer, or with several if the model can."""
        pieces = [answer.unread[:count] for answer, count in shares]
        caches = [answer.reading.cache for answer, _ in shares]
        try:
            with _threads(sum(count for _, count in shares)):
                if self._reads_rows:
                    return read_rows(self._model, pieces, caches)
                return read_alone(self._model, pieces[0], caches[0])
        except BaseException:
            for answer, _ in shares:
                answer.reading.rewind()
            raise


@contextmanager
def _threads(tokens: int) -> Iterator[None]:
    """Let torch use several threads for a step that computes much, if nobody needs the cores."""
    if tokens <= _FEW_TOKENS:
        torch.set_num_threads(1)
        yield
        return
    with CORES.lend(MODEL_THREADS) as threads:
        torch.set_num_threads(threads)
        yield


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
        # Never a pickle, which may hold any program, nor code that a model brings along.
        model = AutoModelForCausalLM.from_pretrained(
            str(place),
            dtype=float_type(),
            local_files_only=is_path,
            use_safetensors=True,
            trust_remote_code=False,
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
