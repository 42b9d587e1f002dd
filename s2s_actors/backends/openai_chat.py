"""A chat model behind an OpenAI-compatible server (OpenAI, vLLM, llama.cpp, Ollama, ...).

All sessions share one client and one event loop on a thread of its own; each answer is a task
there, and the calling thread reads its events off a queue. Cancelling the call cancels the
task, which closes the HTTP stream wherever it waits, so the server stops too.

Three limits bound the wait: for a connection, for the first of the answer with all tries to
get it, and for silence within it. An answer that has begun is never asked for again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import random
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import openai
from openai import AsyncOpenAI

from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.loop_thread import LoopThread
from s2s_actors.backends.openai_retry import wait_before_retry_s
from s2s_actors.backends.openai_wire import ChunkReader, request_body, stage_error
from s2s_actors.errors import SetupError, StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk

    from s2s_actors.backends.base import BackendOptions, Call, Progress
    from s2s_actors.backends.chat import LlmEvent, LlmRequest

__all__ = ["OpenAIChat"]

logger = logging.getLogger(__name__)

_OPENAI_HOST = "api.openai.com"
# Local servers ask for no key, but the client insists on one.
_NO_KEY = "none"


class OpenAIChat:
    """One client for all sessions; it connects on first use and keeps connections open."""

    runs_here = False

    def __init__(self, options: BackendOptions, model: str) -> None:
        base_url = options.base_url or os.environ.get("OPENAI_BASE_URL")
        host = urlsplit(base_url).hostname if base_url else _OPENAI_HOST
        self.info = ModelInfo(id=model, kind="llm", backend="openai", source=_public(base_url))
        self._model = model
        self._limit_key = "max_completion_tokens" if host == _OPENAI_HOST else "max_tokens"
        self._first_timeout_s = options.first_timeout_s
        self._idle_timeout_s = options.timeout_s
        self._client = AsyncOpenAI(
            api_key=options.api_key or os.environ.get("OPENAI_API_KEY") or _NO_KEY,
            base_url=base_url,
            # Its other limits start anew with each byte, be it a comment to keep the connection
            # alive; ours are on what the model says. Its retries heed none of them.
            timeout=openai.Timeout(None, connect=options.connect_timeout_s),
            max_retries=0,
        )
        self._loop = LoopThread("llm-openai")
        self._closed = False

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Set up the client; the server is not contacted.

        Raises:
            SetupError: No model is named, or the URL is none.
        """
        del progress
        if not options.model:
            raise SetupError(
                "--llm openai needs the name of a model",
                hint="add --llm-model NAME, and --llm-base-url URL unless it is OpenAI's own",
            )
        if options.base_url and urlsplit(options.base_url).scheme not in {"http", "https"}:
            raise SetupError("--llm-base-url: the URL must begin with http:// or https://")
        return cls(options, options.model)

    def warm_up(self) -> None:
        """Nothing: a server that is away for a moment must not keep this one from starting."""

    def close(self) -> None:
        """Abort what runs, close the connections, stop the thread. Idempotent."""
        if not self._closed:
            self._closed = True
            self._loop.start(self._client.close()).result()
            self._loop.close()

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Yield the answer as the server sends it.

        Raises:
            StageError: The server can't be reached, refuses, is silent for too long or breaks
                off. The message holds neither address nor key.
        """
        if self._closed:
            raise StageError("llm_closed", "The language model is shut down.")
        events: SimpleQueue[LlmEvent | None] = SimpleQueue()
        future = self._loop.start(self._stream(request, events.put))
        # A cancelled future is done at once, whatever its task still has to tidy up.
        future.add_done_callback(lambda _: events.put(None))
        forget = call.cancel.on_cancel(lambda: _drop(future.cancel()))
        try:
            while (event := events.get()) is not None and not call.cancel.cancelled:
                yield event
            if not call.cancel.cancelled:
                future.result()
        except CancelledError:
            if not call.cancel.cancelled:
                raise StageError("llm_closed", "The language model is shut down.") from None
        finally:
            forget()
            future.cancel()

    async def _stream(self, request: LlmRequest, emit: Callable[[LlmEvent], None]) -> None:
        reader = ChunkReader()
        body = request_body(request, self._model, limit_key=self._limit_key)
        try:
            async with asyncio.timeout(self._first_timeout_s) as limit:
                stream = await self._ask(body, limit)
                async with stream:
                    async for chunk in stream:
                        limit.reschedule(asyncio.get_running_loop().time() + self._idle_timeout_s)
                        for event in reader.read(chunk):
                            emit(event)
        except TimeoutError as error:
            raise StageError("llm_timeout", "The language model did not answer in time.") from error
        except openai.OpenAIError as error:
            raise stage_error(error, begun=reader.begun) from error
        except ValueError as error:
            raise StageError(
                "llm_bad_answer", "The language model sent what is not a chat completion."
            ) from error
        emit(reader.finish())

    async def _ask(
        self, body: dict[str, Any], limit: asyncio.Timeout
    ) -> AsyncStream[ChatCompletionChunk]:
        """Make the request, again if that may help before the limit."""
        for retries in itertools.count():
            try:
                stream: AsyncStream[
                    ChatCompletionChunk
                ] = await self._client.chat.completions.create(**body)
            except openai.OpenAIError as error:
                wait_s = wait_before_retry_s(error, retries, chance=random.random())  # noqa: S311
                end_s = limit.when()
                if wait_s is None or end_s is None:
                    raise
                if asyncio.get_running_loop().time() + wait_s >= end_s:
                    raise
                logger.info(
                    "the language model failed (%s); again in %.1f s", type(error).__name__, wait_s
                )
                await asyncio.sleep(wait_s)
            else:
                return stream
        raise AssertionError("counts without end")


def _drop(result: object) -> None:
    """Make a callback of a call whose result nobody needs."""


def _public(url: str | None) -> str:
    """A URL without user, password and query, for logs and ``/v1/models``."""
    if url is None:
        return f"https://{_OPENAI_HOST}"
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
