"""Audio files of every kind, whole and broken."""

from __future__ import annotations

import os
import wave
from pathlib import Path

import pytest

from s2s_actors.client.audio_file import duration_ms, read_pcm, write_wav
from s2s_actors.client.demo import QUESTION
from s2s_actors.client.speech import speech_regions_ms
from s2s_actors.errors import SetupError
from tests.support.sound import noise, silence, tone, write_audio

PCM = silence(300) + tone(400) + silence(300)

FORMATS = [
    ("a.wav", "pcm_s16le", 24_000, "mono"),
    ("a.wav", "pcm_s16le", 8_000, "mono"),
    ("a.wav", "pcm_f32le", 48_000, "stereo"),
    ("a.flac", "flac", 44_100, "stereo"),
    ("a.mp3", "libmp3lame", 44_100, "mono"),
    ("a.ogg", "libopus", 48_000, "stereo"),
]


@pytest.mark.parametrize(("name", "codec", "rate_hz", "layout"), FORMATS)
def test_any_format_becomes_24_khz_mono(
    tmp_path: Path, name: str, codec: str, rate_hz: int, layout: str
) -> None:
    path = write_audio(tmp_path / name, PCM, codec=codec, rate_hz=rate_hz, layout=layout)
    pcm = read_pcm(path)
    assert duration_ms(pcm) == pytest.approx(1000, abs=80)  # MP3 pads its ends
    ((start_ms, end_ms),) = speech_regions_ms(pcm)
    assert abs(start_ms - 300) <= 80
    assert abs(end_ms - 700) <= 80


def test_a_wav_at_the_protocol_s_rate_passes_unchanged(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", PCM)
    assert read_pcm(tmp_path / "a.wav") == PCM


def test_the_question_that_comes_along_is_short_and_holds_speech() -> None:
    assert QUESTION.stat().st_size < 150_000
    regions = speech_regions_ms(read_pcm(QUESTION))
    assert len(regions) == 1
    assert regions[0][0] >= 300


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"there is no file .*gone\.wav"):
        read_pcm(tmp_path / "gone.wav")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="is a directory"):
        read_pcm(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"hello, I am a text file\n" * 50, "not an audio file"),
        (b"\0" * 5000, "not an audio file"),
        (b"RIFF\x24\x00\x00\x00WAVE", "damaged|not an audio file|no audio"),
    ],
)
def test_what_is_not_audio_is_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "question.wav"
    path.write_bytes(content)
    with pytest.raises(SetupError, match=rf"question\.wav .*({reason})"):
        read_pcm(path)


def test_a_wav_without_a_single_sample_is_refused(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", b"")
    with pytest.raises(SetupError, match=r"holds no audio|damaged"):
        read_pcm(tmp_path / "a.wav")


@pytest.mark.parametrize("kept_bytes", [20, 60, 2000])
def test_a_flac_that_is_cut_off_is_damaged(tmp_path: Path, kept_bytes: int) -> None:
    path = write_audio(tmp_path / "a.flac", noise(1000, level_db=-20), codec="flac")
    path.write_bytes(path.read_bytes()[:kept_bytes])
    with pytest.raises(SetupError, match=r"a\.flac (is damaged|holds no audio)"):
        read_pcm(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.touch(mode=0o000)
    with pytest.raises(SetupError, match=r"can't read .*Permission denied"):
        read_pcm(path)


def test_writing_makes_the_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "answer.wav"
    write_wav(path, PCM)
    write_wav(path, PCM[:4800])
    with wave.open(str(path)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, 24_000)
        assert wav.readframes(wav.getnframes()) == PCM[:4800]
    assert [entry.name for entry in path.parent.iterdir()] == ["answer.wav"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_wav(pipe, b"12")
        assert pipe.is_fifo()
        assert os.read(reader, 100).endswith(b"12")
    finally:
        os.close(reader)


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link.wav"
    link.symlink_to(tmp_path / "answer.wav")
    write_wav(link, PCM)
    assert link.is_symlink()
    assert read_pcm(tmp_path / "answer.wav") == PCM


def test_a_full_device_is_told_and_stays_what_it_is() -> None:
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("no device that is always full")
    with pytest.raises(SetupError, match="can't write /dev/full: No space left"):
        write_wav(full, PCM)
    assert full.is_char_device()


def test_a_place_that_can_t_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"can't write .*answer\.wav"):
        write_wav(tmp_path / "file" / "answer.wav", PCM)


def test_writing_over_a_directory_is_refused_and_leaves_no_rubbish(tmp_path: Path) -> None:
    (tmp_path / "out.wav").mkdir()
    with pytest.raises(SetupError, match=r"can't write .*out\.wav"):
        write_wav(tmp_path / "out.wav", PCM)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.wav"]
