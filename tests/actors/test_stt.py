"""Utterances become text, or a failure that names what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.actors.messages import SessionEnd, Transcribe, Transcribed, TranscriptionFailed
from s2s_actors.actors.stt import SttActor
from s2s_actors.backends.base import SttRequest, Transcript
from s2s_actors.errors import StageError
from s2s_actors.runtime.supervision import Crashed
from tests.actors.stage_harness import StageBench
from tests.support.stepped_plant import FakeStt
from tests.support.stepping import run_until_idle

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.backends.base import Call


class Listener(FakeStt):
    """Keeps what it was asked, and does what a test wants in the middle of a call."""

    def __init__(self, surprise: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.requests: list[SttRequest] = []
        self.surprise = surprise

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        self.requests.append(request)
        self.surprise()
        return super().transcribe(request, call)


def bench(backend: FakeStt) -> StageBench:
    return StageBench(lambda links: SttActor("stt-0", links, backend))


def utterance(stage: StageBench, item_id: str = "item", pcm: bytes = bytes(4800)) -> Transcribe:
    return Transcribe(stage.lease, item_id, pcm, "fr", "Paris", stage.scope)


def test_an_utterance_gets_its_transcript() -> None:
    stage = bench(Listener())
    stage.put(utterance(stage, "item_1"), utterance(stage, "item_2"))
    said = stage.said(Transcribed)
    assert [message.voice_id for message in said] == ["item_1", "item_2"]
    assert said[0].transcript == Transcript("sess_bench asks")
    assert said[0].lease == stage.lease


def test_the_model_hears_the_same_sound_at_its_own_rate() -> None:
    times_s = np.arange(24_000) / 24_000
    pcm = (8000 * np.sin(2 * np.pi * 440 * times_s)).astype("<i2").tobytes()
    backend = Listener()
    stage = bench(backend)
    stage.put(utterance(stage, pcm=pcm))
    (request,) = backend.requests
    assert (request.language, request.prompt) == ("fr", "Paris")
    samples = np.frombuffer(request.pcm, "<i2")
    assert len(samples) == 16_000
    assert int(np.argmax(np.abs(np.fft.rfft(samples)))) == 440


def test_an_utterance_without_audio_is_no_accident() -> None:
    stage = bench(Listener())
    stage.put(utterance(stage, pcm=b""))
    assert len(stage.said(Transcribed)) == 1


def test_a_model_that_fails_is_reported_for_its_item_and_goes_on() -> None:
    error = StageError("stt_timeout", "Speech recognition took too long.")
    backend = Listener()
    backend.mischief.plan("stt", _raiser(error))
    stage = bench(backend)
    stage.put(utterance(stage, "item_1"), utterance(stage, "item_2"))
    failed, fine = stage.conversation.messages
    assert failed == TranscriptionFailed(stage.lease, "item_1", error)
    assert isinstance(fine, Transcribed)
    assert stage.unit.of(Crashed) == []


def test_a_model_that_crashes_is_the_units_business() -> None:
    backend = Listener(_raiser(RuntimeError("a bug")))
    stage = bench(backend)
    stage.put(utterance(stage))
    assert [type(message) for message in stage.unit.messages] == [Crashed]
    assert stage.conversation.messages == []


def test_nothing_is_said_for_a_session_that_ended_in_the_middle() -> None:
    backend = Listener()
    stage = bench(backend)
    backend.surprise = stage.scope.cancel
    stage.put(utterance(stage))
    assert len(backend.requests) == 1
    assert stage.conversation.messages == []


def test_a_failure_that_the_end_of_the_session_caused_is_not_reported() -> None:
    backend = Listener()
    stage = bench(backend)

    def abort() -> None:
        stage.scope.cancel()
        raise StageError("stt_aborted", "The connection was closed.")

    backend.surprise = abort
    stage.put(utterance(stage))
    assert stage.conversation.messages == []
    assert stage.unit.of(Crashed) == []


def test_utterances_that_wait_at_the_end_of_the_session_cost_no_model() -> None:
    backend = Listener()
    stage = bench(backend)
    for number in range(3):
        stage.actor.outlet.put(utterance(stage, f"item_{number}"))
    stage.actor.outlet.put(SessionEnd(stage.lease))
    stage.scope.cancel()
    run_until_idle(stage.actor)
    assert backend.requests == []
    assert stage.onward.messages == [SessionEnd(stage.lease)]


def _raiser(error: Exception) -> Callable[[], None]:
    def surprise() -> None:
        raise error

    return surprise


def test_how_sure_the_model_is_is_asked_for_only_where_it_is_wanted() -> None:
    backend = Listener()
    stage = bench(backend)
    wanted = Transcribe(stage.lease, "item", bytes(4800), None, None, stage.scope, logprobs=True)
    stage.put(utterance(stage), wanted)
    assert [request.logprobs for request in backend.requests] == [False, True]
