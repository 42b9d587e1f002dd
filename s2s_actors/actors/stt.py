"""The STT stage: turns utterances into text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import soxr

from s2s_actors.actors.messages import Transcribe, Transcribed, TranscriptionFailed
from s2s_actors.actors.stage import Links, ModelStage
from s2s_actors.backends.abilities import runs_here
from s2s_actors.backends.base import Call, SttRequest
from s2s_actors.protocol.audio import WIRE_RATE_HZ, size_bytes
from s2s_actors.protocol.input_audio import MAX_BUFFER_MS

if TYPE_CHECKING:
    from s2s_actors.actors.load import Load
    from s2s_actors.backends.base import SpeechToText
    from s2s_actors.errors import StageError

STT_RATE_HZ = 16_000


class SttActor(ModelStage):
    """Transcribes one utterance at a time."""

    stage = "stt"

    limit_messages = 64
    # As much as the input buffer holds: a turn is never too long to wait here.
    limit_bytes = size_bytes(MAX_BUFFER_MS)

    def __init__(
        self, name: str, links: Links, backend: SpeechToText, load: Load | None = None
    ) -> None:
        super().__init__(name, links, load if runs_here(backend) else None)
        self._backend = backend

    def run_model(self, message: Transcribe) -> None:
        """Transcribe, and say so if that is still wanted."""
        request = SttRequest(
            _resampled(message.pcm),
            message.language,
            message.prompt,
            message.logprobs,
            message.beginning,
        )
        call = Call(message.lease.session_id, message.cancel, message.urgency)
        transcript = self._backend.transcribe(request, call)
        if not message.cancel.cancelled:
            self.links.conversation.put(Transcribed(message.lease, message.voice_id, transcript))

    def failure(self, message: Transcribe, error: StageError) -> TranscriptionFailed:
        """The utterance has no transcript."""
        return TranscriptionFailed(message.lease, message.voice_id, error)


def _resampled(pcm: bytes) -> bytes:
    samples = soxr.resample(np.frombuffer(pcm, dtype="<i2"), WIRE_RATE_HZ, STT_RATE_HZ)
    resampled: bytes = samples.astype("<i2").tobytes()
    return resampled
