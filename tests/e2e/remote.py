"""A server whose language model is elsewhere."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.registry import load_backend
from tests.support.fake_openai import FakeOpenAI
from tests.support.running_server import RunningServer, scripted_models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.openai_chat import OpenAIChat
    from tests.support.fake_openai import Reply

__all__ = ["remote_llm", "served_by"]


def remote_llm(fake: FakeOpenAI, timeout_s: float = 30.0) -> OpenAIChat:
    """A client of that server, which gives up after so long a silence."""
    options = BackendOptions(
        model="fake", base_url=fake.base_url, first_timeout_s=timeout_s, timeout_s=timeout_s
    )
    backend: OpenAIChat = load_backend("llm", "openai", options)  # type: ignore[assignment]
    return backend


@contextlib.contextmanager
def served_by(
    *replies: Reply, timeout_s: float = 30.0
) -> Iterator[tuple[FakeOpenAI, RunningServer]]:
    """A server with one unit, and the one behind it, which gives these replies."""
    with FakeOpenAI(*replies) as fake:
        llm = remote_llm(fake, timeout_s)
        try:
            with RunningServer(scripted_models(llm=llm), units=1) as server:
                yield fake, server
        finally:
            llm.close()
