"""Speech comes out at the rate of the wire, and no edge between two pieces can be heard."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.actors.messages import ResponseFailed, Speak, Spoken
from s2s_actors.actors.tts import MAX_PIECE_BYTES, TtsActor
from s2s_actors.backends.base import TtsRequest
from s2s_actors.errors import StageError
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.supervision import Crashed
from tests.actors.stage_harness import StageBench
from tests.support.stepped_plant import FakeTts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from s2s_actors.backends.base import Call

WIRE_RATE_HZ = 24_000
TONE_HZ = 440
AMPLITUDE = 10_000


class Voice(FakeTts):
    """Says pieces of audio; in between it may do something else."""

    def __init__(self, rate_hz: int, *script: bytes | Callable[[], None]) -> None:
        super().__init__()
        self.sample_rate_hz = rate_hz
        self.script = script
        self.closed = False

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        assert (request.text, call.session_id) == ("Hello.", "sess_bench")
        try:
            for entry in self.script:
                if callable(entry):
                    entry()
                else:
                    yield entry
        finally:
            self.closed = True


def bench(backend: FakeTts) -> StageBench:
    return StageBench(lambda links: TtsActor("tts-0", links, backend))


def speak(stage: StageBench, segment: int = 0, cancel: CancelToken | None = None) -> None:
    request = TtsRequest("Hello.")
    stage.put(Speak(stage.lease, "resp_1", segment, request, cancel or CancelToken()))


def tone(rate_hz: int, samples: int) -> bytes:
    times_s = np.arange(samples) / rate_hz
    pcm: bytes = (AMPLITUDE * np.sin(2 * np.pi * TONE_HZ * times_s)).astype("<i2").tobytes()
    return pcm


def pieces(pcm: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(2 * min(cut, len(pcm) // 2) for cut in cuts), len(pcm)]
    return [pcm[start:stop] for start, stop in itertools.pairwise(edges)]


def spoken(rate_hz: int, chunks: Sequence[bytes]) -> NDArray[np.int64]:
    stage = bench(Voice(rate_hz, *chunks))
    speak(stage)
    said = stage.said(Spoken)
    assert [message.last for message in said] == [False] * (len(said) - 1) + [True]
    return np.frombuffer(b"".join(message.pcm for message in said), "<i2").astype(np.int64)


@given(
    rate_hz=st.sampled_from([16_000, 22_050, 24_000, 44_100]),
    samples=st.integers(0, 9000),
    cuts=st.lists(st.integers(0, 9000), max_size=12),
)
def test_however_the_audio_is_cut_the_same_sound_comes_out(
    rate_hz: int, samples: int, cuts: list[int]
) -> None:
    pcm = tone(rate_hz, samples)
    whole, cut = spoken(rate_hz, [pcm]), spoken(rate_hz, pieces(pcm, cuts))
    assert len(cut) == len(whole)
    assert abs(len(whole) - samples * WIRE_RATE_HZ / rate_hz) <= 1
    # Within the noise of rounding to 16 bits twice.
    assert np.abs(cut - whole).max(initial=0) <= 3


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000])
@pytest.mark.parametrize("chunk_samples", [1, 37, 441, 4000])
def test_a_tone_has_no_jump_at_the_edges_of_its_pieces(rate_hz: int, chunk_samples: int) -> None:
    pcm = tone(rate_hz, rate_hz // 4)
    out = spoken(rate_hz, pieces(pcm, range(chunk_samples, rate_hz // 4, chunk_samples)))
    times_s = np.arange(len(out)) / WIRE_RATE_HZ
    off = np.abs(out - AMPLITUDE * np.sin(2 * np.pi * TONE_HZ * times_s))
    # The ends ring; in between every sample is where the tone is.
    assert off[200:-200].max() < AMPLITUDE * 0.002


def test_two_segments_do_not_run_into_each_other() -> None:
    stage = bench(Voice(16_000, tone(16_000, 1600)))
    speak(stage, 0)
    first = b"".join(message.pcm for message in stage.said(Spoken))
    stage.conversation.take()
    speak(stage, 1)
    second = b"".join(message.pcm for message in stage.said(Spoken))
    assert {message.segment for message in stage.said(Spoken)} == {1}
    assert len(first) == len(second)


def test_a_segment_without_audio_has_an_end() -> None:
    stage = bench(Voice(16_000))
    speak(stage, 7)
    assert stage.conversation.messages == [Spoken(stage.lease, "resp_1", 7, b"", last=True)]


def test_a_model_that_fails_fails_the_response_and_not_the_stage() -> None:
    error = StageError("tts_failed", "The voice failed.")
    stage = bench(Voice(24_000, bytes(2400), _raiser(error)))
    speak(stage)
    assert stage.conversation.messages[-1] == ResponseFailed(stage.lease, "resp_1", error)
    assert stage.unit.of(Crashed) == []


def test_a_model_that_crashes_is_the_units_business() -> None:
    stage = bench(Voice(24_000, _raiser(RuntimeError("a bug"))))
    speak(stage)
    assert [type(message) for message in stage.unit.messages] == [Crashed]
    assert stage.conversation.messages == []


def test_cancelling_takes_effect_within_one_chunk() -> None:
    cancel = CancelToken()
    backend = Voice(24_000, tone(24_000, 2400), cancel.cancel, *[tone(24_000, 2400)] * 5)
    stage = bench(backend)
    speak(stage, cancel=cancel)
    assert not any(message.last for message in stage.said(Spoken))
    assert sum(len(message.pcm) for message in stage.said(Spoken)) <= 4800
    assert backend.closed


@pytest.mark.parametrize("fails", [False, True])
def test_a_cancelled_segment_may_end_as_it_likes(fails: bool) -> None:
    cancel = CancelToken()
    fall = [_raiser(StageError("tts_aborted", "Connection closed."))] if fails else []
    stage = bench(Voice(24_000, cancel.cancel, *fall))
    speak(stage, cancel=cancel)
    assert stage.conversation.messages == []
    assert stage.unit.of(Crashed) == []


def _raiser(error: Exception) -> Callable[[], None]:
    def surprise() -> None:
        raise error

    return surprise


def test_a_voice_that_does_not_come_to_an_end_is_stopped() -> None:
    minute = bytes(2 * 60 * WIRE_RATE_HZ)
    stage = bench(Voice(WIRE_RATE_HZ, *[minute] * 20))
    speak(stage)
    failed = stage.conversation.messages[-1]
    assert isinstance(failed, ResponseFailed)
    assert failed.error.code == "tts_endless"
    assert sum(len(each.pcm) for each in stage.conversation.of(Spoken)) <= MAX_PIECE_BYTES
