"""The input audio buffer of a session: what the user has said and no item holds yet."""

from __future__ import annotations

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio

MIN_COMMIT_MS = 100
"""The real service wants that much audio in a commit."""
KEEP_SILENCE_MS = 35_000
"""How much is kept while nobody speaks, for a client that commits by itself."""
MAX_BUFFER_MS = 15 * 60_000
"""Most that an uncommitted buffer holds."""


class InputAudioBuffer:
    """Audio on the session's clock, which counts from the first sample and never goes back.

    Positions are milliseconds since the first appended sample, whatever has been cleared or
    committed since. An append may end in the middle of a sample: the odd byte waits for
    the next one.
    """

    def __init__(self) -> None:
        self._pcm = bytearray()
        self._start_bytes = 0
        self._odd = b""

    @property
    def start_ms(self) -> int:
        """Position of the first sample that is still held."""
        return audio.duration_ms(self._start_bytes)

    @property
    def end_ms(self) -> int:
        """Position just after the last sample."""
        return audio.duration_ms(self._end_bytes)

    @property
    def end_samples(self) -> int:
        """Samples taken in since the session began."""
        return self._end_bytes // audio.BYTES_PER_SAMPLE

    @property
    def held_ms(self) -> int:
        """How much is held."""
        return audio.duration_ms(len(self._pcm))

    @property
    def _end_bytes(self) -> int:
        return self._start_bytes + len(self._pcm)

    def whole_samples(self, data: bytes) -> bytes:
        """What an append of ``data`` would add: whole samples, with the odd byte before it.

        Raises:
            ClientError: The buffer would grow over its limit; nothing has changed.
        """
        data = self._odd + data
        whole = data[: len(data) - len(data) % audio.BYTES_PER_SAMPLE]
        if len(self._pcm) + len(whole) > audio.size_bytes(MAX_BUFFER_MS):
            raise ClientError(
                "input_audio_buffer_full",
                f"The input audio buffer holds at most {MAX_BUFFER_MS // 1000} s of audio: "
                "commit or clear it.",
                param="audio",
            )
        return whole

    def append(self, data: bytes) -> None:
        """Take in what :meth:`whole_samples` was asked about."""
        whole = self.whole_samples(data)
        self._odd = (self._odd + data)[len(whole) :]
        self._pcm += whole

    def take_rest(self, pcm: bytes) -> None:
        """Take in what a decoder had held back: a few milliseconds, whatever the limit says."""
        pcm = self._odd + pcm
        whole = len(pcm) - len(pcm) % audio.BYTES_PER_SAMPLE
        self._odd = pcm[whole:]
        self._pcm += pcm[:whole]

    def take_odd(self) -> bytes:
        """Hand over half a sample that waits for its other half, if there is one."""
        odd, self._odd = self._odd, b""
        return odd

    def slice(self, start_ms: int, end_ms: int) -> bytes:
        """The audio between two positions, as far as it is held."""
        first = max(0, audio.size_bytes(start_ms) - self._start_bytes)
        last = max(0, audio.size_bytes(end_ms) - self._start_bytes)
        return bytes(self._pcm[first:last])

    def drop_before(self, position_ms: int) -> None:
        """Forget what lies before a position."""
        count = min(audio.size_bytes(position_ms) - self._start_bytes, len(self._pcm))
        if count > 0:
            del self._pcm[:count]
            self._start_bytes += count

    def trim_silence(self, *, before_ms: int) -> None:
        """Forget what no turn can need any more, but for the last :data:`KEEP_SILENCE_MS`.

        Args:
            before_ms: Voice detection has looked at what lies before, and found no speech.
        """
        self.drop_before(min(before_ms, self.end_ms - KEEP_SILENCE_MS))

    def clear(self) -> None:
        """Forget everything that is held; the clock goes on."""
        self._start_bytes += len(self._pcm)
        self._pcm.clear()
        self._odd = b""
