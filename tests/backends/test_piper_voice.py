"""Piper speaks, in pieces, and stops when told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.backends.base import BackendOptions, Call, SttRequest, TtsRequest
from s2s_actors.backends.piper_voice import PiperVoice, _pieces
from s2s_actors.backends.turnstile import Turnstile
from s2s_actors.errors import SetupError
from s2s_actors.protocol.spoken_text import spoken
from s2s_actors.runtime.cancel import CancelToken
from tests.support.speech import words

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from s2s_actors.backends.base import SpeechToText, TextToSpeech
    from s2s_actors.runtime.urgency import Urgency
    from tests.support.speech import Speaker

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


PIECES = (
    "Of course!",
    "I can help you with that,",
    "but first I need you to tell me a little more about what it is that you would like to know.",
)


def _frame_levels_db(pcm: bytes, rate_hz: int) -> NDArray[np.float64]:
    """Power of each 10 ms, 0 dB at full scale."""
    frame = rate_hz // 100
    samples = np.frombuffer(pcm, dtype="<i2") / 32768
    frames = samples[: len(samples) // frame * frame].reshape(-1, frame)
    levels_db: NDArray[np.float64] = 10 * np.log10((frames**2).mean(axis=1) + 1e-9)
    return levels_db


def _loudness_db(levels_db: NDArray[np.float64]) -> float:
    speech = levels_db[levels_db > levels_db.max() - 20]
    return float(10 * np.log10((10 ** (speech / 10)).mean()))


def test_pieces_of_an_answer_are_equally_loud(piper: TextToSpeech) -> None:
    levels_db = [
        _frame_levels_db(b"".join(_speak(piper, text)), piper.sample_rate_hz) for text in PIECES
    ]
    loudness_db = [_loudness_db(levels) for levels in levels_db]
    assert max(loudness_db) - min(loudness_db) < 1.5


@pytest.mark.parametrize("text", PIECES)
def test_speech_begins_at_once_and_ends_with_a_pause(piper: TextToSpeech, text: str) -> None:
    levels_db = _frame_levels_db(b"".join(_speak(piper, text)), piper.sample_rate_hz)
    heard = np.flatnonzero(levels_db > -50)
    assert heard[0] <= 4
    assert len(levels_db) - heard[-1] >= 6


def test_the_first_long_piece_finds_everything_ready(
    piper: TextToSpeech, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def speak(_: PiperVoice, phonemes: list[str], *__: object) -> bytes:
        sizes.append(len(phonemes))
        return b"\0\0"

    monkeypatch.setattr(PiperVoice, "_speak", speak)
    piper.warm_up()
    warmed = max(sizes)
    sizes.clear()
    _speak(piper, PIECES[-1] + " And so on and on" * 4)
    assert max(sizes) <= warmed


def test_each_sentence_of_a_piece_comes_after_the_one_before_it(
    piper: TextToSpeech, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[int] = []
    turn = Turnstile.turn

    def noted(
        self: Turnstile, cancel: CancelToken, urgency: Urgency, piece: int = 0
    ) -> AbstractContextManager[bool]:
        pieces.append(piece)
        return turn(self, cancel, urgency, piece)

    monkeypatch.setattr(Turnstile, "turn", noted)
    call = Call("s", CancelToken(), piece=3)
    assert len(list(piper.synthesize(TtsRequest("One. Two. Three."), call))) == 3
    assert pieces == [3, 4, 5]


def test_signs_are_not_read_out_by_their_names(speaker: Speaker, whisper: SpeechToText) -> None:
    written = "The **answer** to it is 3*4, and # that is `all` I have to say."
    pcm = speaker.say(spoken(written))
    heard = words(whisper.transcribe(SttRequest(pcm), Call("s", CancelToken())).text)
    assert {"answer", "times", "say"} <= set(heard)
    assert not {"asterisk", "hash"} & set(heard)


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
