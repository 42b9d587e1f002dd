"""Where in the life of a session a client is when it leaves, and what its models do meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tests.support.realtime_client import RealtimeClient

    Phase: TypeAlias = Callable[[RealtimeClient, str], Awaitable[object]]

__all__ = ["MODELS", "PHASES"]

_TEXT: Final = "One two three. Four five six. Seven eight nine. Ten eleven twelve. "
MODELS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ok": {"text": _TEXT * 3, "token_ms": 2},
    "slow": {"text": _TEXT * 30, "token_ms": 15, "first_token_ms": 40},
    "stalled": {"text": _TEXT, "after": 7, "stall": True},
    "stalled before the first token": {"text": "", "stall": True},
    "failing": {"text": _TEXT, "after": 7, "token_ms": 10, "error": "llm_down"},
    "failing at once": {"text": "", "error": "llm_down"},
}
"""What the language model does, by name."""

_SILENT: Final = ("stalled before the first token", "failing at once")
_CALL: Final = {"tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}


async def _created(client: RealtimeClient, model: str) -> None:
    del model
    await client.event("session.created")


async def _configured(client: RealtimeClient, model: str) -> None:
    await client.play(MODELS[model], stt=[{"text": "go on", "delay_ms": 20}])


async def _mid_append(client: RealtimeClient, model: str) -> None:
    await _configured(client, model)
    await client.append(tone(300))


async def _flooding(client: RealtimeClient, model: str) -> None:
    await _configured(client, model)
    await client.append(tone(4000) + silence(300) + tone(4000), step_ms=100)


async def _speech_stopped(client: RealtimeClient, model: str) -> None:
    await _configured(client, model)
    await client.say(300)
    await client.event("input_audio_buffer.speech_stopped")


async def _awaiting_llm(client: RealtimeClient, model: str) -> None:
    await _configured(client, model)
    await client.write("go on")
    await client.create()
    await client.event("response.created")


async def _mid_audio(client: RealtimeClient, model: str) -> None:
    await _awaiting_llm(client, model)
    if model not in _SILENT:
        await client.event_that(_spoken, "sound")


def _spoken(event: dict[str, Any]) -> bool:
    """Whether there is sound, or will be none because the model failed before it."""
    return event["type"] in {"response.output_audio.delta", "response.done"}


async def _tool_outstanding(client: RealtimeClient, model: str) -> None:
    del model
    await client.play(_CALL)
    await client.write("what is the weather?")
    await client.create()
    await client.event("response.function_call_arguments.done")


async def _after_cancel(client: RealtimeClient, model: str) -> None:
    await _mid_audio(client, model)
    await client.send("response.cancel")


async def _after_done(client: RealtimeClient, model: str) -> None:
    quick = {"stalled": "ok", "stalled before the first token": "ok", "slow": "ok"}
    await _awaiting_llm(client, quick.get(model, model))
    await client.done()


PHASES: Final[Mapping[str, Phase]] = {
    "created": _created,
    "configured": _configured,
    "in the middle of an append": _mid_append,
    "after a flood of audio": _flooding,
    "after speech_stopped": _speech_stopped,
    "awaiting the language model": _awaiting_llm,
    "in the middle of audio": _mid_audio,
    "with a tool outstanding": _tool_outstanding,
    "after a cancel": _after_cancel,
    "after an answer": _after_done,
}
"""What a client has done when it leaves, by name."""
