"""The backend by itself: no server, no actors, no threads."""

from __future__ import annotations

import pytest
from s2s_morse import MorseVoice

from s2s_actors.backends.base import BackendOptions, Call, TtsRequest
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken


def test_a_word_becomes_a_piece_of_audio() -> None:
    voice = MorseVoice.load(BackendOptions(voice="440"), print)
    call = Call("sess_1", CancelToken())
    pieces = list(voice.synthesize(TtsRequest("SOS SOS"), call))
    # 27 dots of signal and pauses inside the word, 7 after it, 50 ms each.
    assert [len(piece) / 2 / voice.sample_rate_hz for piece in pieces] == [1.7, 1.7]


def test_a_cancelled_call_ends_within_a_piece() -> None:
    voice = MorseVoice.load(BackendOptions(), print)
    call = Call("sess_1", CancelToken())
    pieces = voice.synthesize(TtsRequest("one two three"), call)
    next(pieces)
    call.cancel.cancel()
    assert list(pieces) == []


def test_a_voice_that_is_no_pitch_is_the_operators_mistake() -> None:
    with pytest.raises(SetupError, match="pitches in Hz"):
        MorseVoice.load(BackendOptions(voice="Joe"), print)
