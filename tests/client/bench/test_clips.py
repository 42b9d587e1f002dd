"""What the bench says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import platformdirs
import pytest

from s2s_actors.client.audio_file import duration_ms, write_wav
from s2s_actors.client.bench import clips
from s2s_actors.client.bench.clips import QUESTIONS, clip_of, load_clips, references, said
from s2s_actors.errors import SetupError
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from pathlib import Path

SPOKEN = silence(300) + tone(400) + silence(100)


@pytest.fixture
def voice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A voice that says everything as a tone, and what it was asked to say."""
    asked: list[str] = []

    def spoken(text: str) -> bytes:
        asked.append(text)
        return SPOKEN

    monkeypatch.setattr(clips, "spoken", spoken)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path)
    return asked


def test_a_clip_knows_where_its_speech_lies() -> None:
    clip = clip_of("tone", SPOKEN)
    assert (clip.start_ms, clip.end_ms) == (300, 700)
    trimmed = clip.trimmed()
    assert (trimmed.start_ms, trimmed.end_ms) == (0, 400)
    assert duration_ms(trimmed.pcm) == 500


def test_silence_is_no_clip() -> None:
    with pytest.raises(SetupError, match="nothing to hear in hush"):
        clip_of("hush", silence(500))


def test_recordings_get_their_texts_by_name(tmp_path: Path) -> None:
    paths = [tmp_path / "a.wav", tmp_path / "b.wav"]
    for path in paths:
        write_wav(path, SPOKEN)
    loaded = load_clips(paths, {"a.wav": "hello"})
    assert [(clip.name, clip.reference) for clip in loaded] == [("a.wav", "hello"), ("b.wav", None)]


def test_references_may_have_a_heading_and_columns_in_between(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("file\tsource\ttranscript\na.wav\tmine\tHello you\n\nb.wav\tBye\n")
    assert references(path) == {"a.wav": "Hello you", "b.wav": "Bye"}
    with pytest.raises(SetupError, match="can't read"):
        references(tmp_path / "gone.tsv")


@pytest.mark.usefixtures("voice")
def test_our_own_questions_know_what_they_say() -> None:
    loaded = load_clips([], {})
    assert [clip.reference for clip in loaded[1:]] == list(QUESTIONS)
    assert loaded[0].reference == "What is the capital of France?"


def test_a_text_is_spoken_once_and_kept(voice: list[str]) -> None:
    assert said(["Yeah."])[0].pcm == said(["Yeah."])[0].pcm == SPOKEN
    assert voice == ["Yeah."]


def test_without_a_voice_there_is_the_question_of_the_package(
    voice: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(text: str) -> bytes:
        voice.append(text)
        raise SetupError("no voice")

    monkeypatch.setattr(clips, "spoken", missing)
    assert [clip.name for clip in load_clips([], {})] == ["question.flac"]
    assert voice
