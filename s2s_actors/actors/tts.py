"""The TTS stage: speaks answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import soxr

from s2s_actors.actors.messages import ResponseFailed, Speak, Spoken
from s2s_actors.actors.stage import Links, ModelStage
from s2s_actors.backends.abilities import runs_here
from s2s_actors.backends.base import Call
from s2s_actors.errors import StageError
from s2s_actors.protocol.audio import WIRE_RATE_HZ, size_bytes

if TYPE_CHECKING:
    from s2s_actors.actors.load import Load
    from s2s_actors.backends.base import TextToSpeech

MAX_PIECE_BYTES = size_bytes(15 * 60_000)
"""A voice that says more of one piece of text does not come to an end."""


class TtsActor(ModelStage):
    """Speaks one piece of text at a time; cancelling takes effect within one chunk."""

    stage = "tts"

    # A long answer has many sentences, and all of them may wait here.
    limit_messages = 1024

    def __init__(
        self, name: str, links: Links, backend: TextToSpeech, load: Load | None = None
    ) -> None:
        super().__init__(name, links, load if runs_here(backend) else None)
        self._backend = backend

    def run_model(self, message: Speak) -> None:
        """Pass the audio on as it comes; a segment always has an end."""
        # One stateful resampler a segment: a chunk edge must not be heard.
        resampler = soxr.ResampleStream(
            self._backend.sample_rate_hz, WIRE_RATE_HZ, 1, dtype="int16"
        )
        session_id = message.lease.session_id
        call = Call(session_id, message.cancel, message.urgency, message.segment)
        said_bytes = 0
        for chunk in self._backend.synthesize(message.request, call):
            self.answered()
            if message.cancel.cancelled:
                return
            samples = resampler.resample_chunk(np.frombuffer(chunk, dtype="<i2"))
            said_bytes += samples.nbytes
            if said_bytes > MAX_PIECE_BYTES:
                raise StageError("tts_endless", "The voice does not come to an end.")
            self._put(message, samples)
        if message.cancel.cancelled:
            return
        rest = resampler.resample_chunk(np.zeros(0, np.int16), last=True)
        self._put(message, rest, last=True)

    def failure(self, message: Speak, error: StageError) -> ResponseFailed:
        """The response ends here."""
        return ResponseFailed(message.lease, message.response_id, error)

    def _put(self, message: Speak, samples: np.ndarray, *, last: bool = False) -> None:
        pcm = samples.astype("<i2").tobytes()
        if pcm or last:
            self.links.conversation.put(
                Spoken(message.lease, message.response_id, message.segment, pcm, last=last)
            )
