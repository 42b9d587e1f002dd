"""One response while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentence_stream import SentenceBoundaryDetector

from s2s_actors.protocol import audio
from s2s_actors.protocol.conversation import SpokenPiece
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.mcp_writer import McpWriter
from s2s_actors.protocol.response import StatusDetails, Usage
from statecharts.response import ResponseChart

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.mcp_servers import Route
    from s2s_actors.protocol.response_plan import ResponsePlan
    from statecharts.response import Status


CHARACTER_MS = 65
"""How long a character takes to say: 150 words a minute of six characters each."""


class _Segment:
    """A piece of text that the voice has not finished."""

    def __init__(self, item_index: int, text: str) -> None:
        self.item_index = item_index
        self.text = text
        self.size_bytes = 0

    def whole(self) -> SpokenPiece:
        """What it would have become: how much of it was heard depends on how long it is."""
        said_ms = audio.duration_ms(self.size_bytes)
        return SpokenPiece(self.text, max(said_ms, len(self.text) * CHARACTER_MS))


class ResponseRun:
    """A response, its chart, its writer, and the speech that is still to come.

    Text becomes speech sentence by sentence. White space alone is neither written nor
    spoken: a model that says only that has said nothing.
    """

    def __init__(self, plan: ResponsePlan, desk: Desk) -> None:
        self.id = new_id("resp")
        self.plan = plan
        self.chart = ResponseChart()
        self.writer = McpWriter(
            plan.head(self.id), desk.conversation if plan.in_conversation else None, desk.send
        )
        self.segments: dict[int, _Segment] = {}
        self.routes: dict[str, Route] = {}
        self.calls: dict[str, int] = {}
        """Calls of MCP tools that run: index by the id of their item."""
        self.details: StatusDetails | None = None
        self.read = self.written = 0
        self._sentences = SentenceBoundaryDetector()
        self._item_index: int | None = None
        self._next_segment = 0

    @property
    def is_busy(self) -> bool:
        """Whether something of it is still to be spoken, or a call still runs."""
        return bool(self.segments or self.calls)

    def text(self, delta: str) -> list[tuple[int, str]]:
        """Write text and return the segments that can be spoken now: number and text."""
        if self._item_index is None:
            delta = delta.lstrip()
            if not delta:
                return []
        # Exact once the model reports; until then a delta is about a token.
        self.written += 1
        self._item_index = self.writer.text(delta)
        if self.plan.modality == "text":
            return []
        return [self._segment(piece) for piece in self._sentences.add_chunk(delta)]

    def end_text(self) -> list[tuple[int, str]]:
        """The message is complete: return the rest that has to be spoken."""
        rest = self._sentences.finish() if self.plan.modality == "audio" else ""
        pieces = [self._segment(rest)] if rest else []
        self._item_index = None
        return pieces

    def spoken(self, number: int, pcm: bytes, *, last: bool) -> None:
        """Write speech of a segment."""
        segment = self.segments[number]
        segment.size_bytes += len(pcm)
        if pcm:
            self.writer.audio(segment.item_index, pcm)
        if last:
            del self.segments[number]
            piece = SpokenPiece(segment.text, audio.duration_ms(segment.size_bytes))
            self.writer.speech_done(segment.item_index, piece)

    def close(self, status: Status) -> None:
        """End the response on the wire."""
        for segment in self.segments.values():
            if segment.size_bytes:
                self.writer.speech_broken_off(segment.item_index, segment.whole())
        usage = Usage.of(read=self.read, written=self.written, spoken_ms=self.writer.spoken_ms)
        self.writer.close(status, self.details, usage)

    def _segment(self, text: str) -> tuple[int, str]:
        assert self._item_index is not None
        number = self._next_segment
        self._next_segment += 1
        self.segments[number] = _Segment(self._item_index, text)
        self.writer.expect_speech(self._item_index)
        return number, text
