"""Piper speaks, in pieces, and stops when told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.base import BackendOptions, Call, TtsRequest
from s2s_actors.backends.piper_voice import PiperVoice, _pieces
from s2s_actors.errors import SetupError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from pathlib import Path

    from s2s_actors.backends.base import TextToSpeech

pytestmark = pytest.mark.models


def _speak(tts: TextToSpeech, text: str, speed: float = 1.0) -> list[bytes]:
    return list(tts.synthesize(TtsRequest(text, speed=speed), Call("s", CancelToken())))


def test_each_sentence_is_a_piece(piper: TextToSpeech) -> None:
    pieces = _speak(piper, "Good morning. How are you?")
    assert len(pieces) == 2
    assert all(len(piece) > piper.sample_rate_hz // 2 for piece in pieces)


def test_speed_changes_the_length(piper: TextToSpeech) -> None:
    text = "This is a sentence of some length."
    fast, slow = (sum(map(len, _speak(piper, text, speed))) for speed in (1.5, 0.5))
    assert slow > 2 * fast


@pytest.mark.parametrize("text", ["", "  \n", "...", "👍", "\x00\ud800", "—"])
def test_text_without_a_word_gives_no_audio(piper: TextToSpeech, text: str) -> None:
    assert _speak(piper, text) == []


@pytest.mark.parametrize("text", ["a [[ x ]] b", "a" * 1000, "x\x00y", "Grüße aus 東京"])
def test_odd_text_is_spoken(piper: TextToSpeech, text: str) -> None:
    assert _speak(piper, text)


def test_a_cancelled_call_ends_after_the_piece_in_work(piper: TextToSpeech) -> None:
    call = Call("s", CancelToken())
    pieces = iter(piper.synthesize(TtsRequest("One. Two. Three. Four."), call))
    assert next(pieces)
    call.cancel.cancel()
    assert list(pieces) == []


def test_long_text_is_cut_at_clauses_and_nothing_is_lost() -> None:
    text = ", ".join(f"this is clause number {number}" for number in range(40)) + " " + "z" * 450
    pieces = list(_pieces(text))
    assert max(map(len, pieces)) <= 200
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_missing_voice_is_named_with_its_setting() -> None:
    with pytest.raises(SetupError, match=r"--tts-voice.*nothing\.onnx"):
        PiperVoice.load(BackendOptions(voice="/nothing.onnx"), print)


def test_a_voice_without_its_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "voice.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(SetupError, match=r"voice\.onnx\.json"):
        PiperVoice.load(BackendOptions(voice=str(path)), print)
    (tmp_path / "voice.onnx.json").write_text("{}")
    with pytest.raises(SetupError, match="not a Piper voice"):
        PiperVoice.load(BackendOptions(voice=str(path)), print)
