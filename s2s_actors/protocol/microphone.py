"""What the user's audio goes through before anyone listens to it: its format, and its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol.noise_reduction import NoiseReducer
from s2s_actors.protocol.transcoding import WireDecoder

if TYPE_CHECKING:
    from s2s_actors.protocol.session import AudioInput


class Microphone:
    """Turns what a client sends into PCM at 24 kHz, cleaned if the session wants that.

    Promises: no sample is lost or moved; with noise reduction up to 20 ms are held back.
    """

    def __init__(self, settings: AudioInput) -> None:
        """Begin with silence.

        Raises:
            ClientError: Noise reduction is wanted, and can't be had.
        """
        reduction = settings.noise_reduction
        self._decoder = WireDecoder(settings.format)
        self._reducer = NoiseReducer(reduction.type) if reduction else None

    def decode(self, data: bytes) -> bytes:
        """The audio of one append; plain PCM passes as it is, an odd byte at its end included."""
        pcm = self._decoder.decode(data)
        return self._reducer.process(pcm) if self._reducer else pcm

    def flush(self) -> bytes:
        """What is held back: at a commit nothing may be missing."""
        rest = self._decoder.flush()
        return self._reducer.process(rest) + self._reducer.flush() if self._reducer else rest
