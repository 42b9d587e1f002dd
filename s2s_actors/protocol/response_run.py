"""One response while it is open."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from s2s_actors.protocol import audio
from s2s_actors.protocol.entry import SpokenPiece
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.interruption import Spoken
from s2s_actors.protocol.mcp_writer import McpWriter
from s2s_actors.protocol.outputs import ArmTimer, HaveEnoughText, StartSpeech
from s2s_actors.protocol.response import StatusDetails, Usage
from statecharts.response import ResponseChart

if TYPE_CHECKING:
    from s2s_actors.protocol.delivery import Segment
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.mcp_servers import Route
    from s2s_actors.protocol.pacing import Milestone
    from s2s_actors.protocol.playback import Playback
    from s2s_actors.protocol.response_plan import ResponsePlan
    from s2s_actors.protocol.turn_clock import TurnClock
    from s2s_actors.protocol.waterfall import NoAnswer
    from statecharts.response import Status


CHARACTER_MS = 65
"""How long a character takes to say: 150 words a minute of six characters each."""
PLAYOUT_TIMER = "playout"
_PLAYOUT_STEP_MS = 20
_PIECE_BYTES = audio.size_bytes(audio.DELTA_MS)
_NO_ANSWER: dict[Status, NoAnswer] = {
    "completed": "empty",
    "incomplete": "empty",
    "cancelled": "cancelled",
    "failed": "failed",
}
# One that is being spoken, and one that waits for its turn: the voice never has to wait.
_SEGMENTS_ASKED = 2


class _Segment:
    """A piece of text that the voice has not finished."""

    def __init__(self, item_index: int, text: str) -> None:
        self.item_index = item_index
        self.text = text
        self.is_asked = False
        self.is_made = False
        self.made_bytes = 0
        self.size_bytes = 0

    def whole(self) -> SpokenPiece:
        """What it would have become: how much of it was heard depends on how long it is."""
        made_ms = audio.duration_ms(self.made_bytes)
        if self.is_made:
            return SpokenPiece(self.text, made_ms)
        return SpokenPiece(self.text, max(made_ms, len(self.text) * CHARACTER_MS))


class ResponseRun:
    """A response, its chart, its writer, and the speech that is still to come.

    Promises: text becomes speech segment by segment; the voice is not asked for more than is
    played soon, and what it has said is sent in order, no further ahead of its playback than
    the session wants.
    """

    def __init__(
        self, plan: ResponsePlan, desk: Desk, playback: Playback, *, rest: str | None = None
    ) -> None:
        """Begin a response.

        Args:
            plan: What it will be.
            desk: Takes what is to be done.
            playback: Knows how far the client is.
            rest: What it says, if no model has to be asked.
        """
        self.id = self.work_id = new_id("resp")
        self.plan = plan
        self.chart = ResponseChart()
        self.writer = McpWriter(
            plan.head(self.id), desk.conversation if plan.in_conversation else None, desk.send
        )
        self.rest = rest
        self.segments: dict[int, _Segment] = {}
        self.routes: dict[str, Route] = {}
        self.calls: dict[str, int] = {}
        """Calls of MCP tools that run: index by the id of their item."""
        self.details: StatusDetails | None = None
        self.read = self.written = 0
        self.asked_ahead = 0
        """How many segments a draft has asked the voice for."""
        self.clock: TurnClock | None = None
        """Of the turn that it answers."""
        self._desk = desk
        self._playback = playback
        self._delivery = plan.delivery()
        self._item_index: int | None = None
        self._unasked: deque[Segment] = deque()
        self._has_text = False
        """Whether text waits for the voice."""
        self._unsent: deque[tuple[int, bytes, bool]] = deque()
        self._unsent_bytes = 0

    @property
    def is_busy(self) -> bool:
        """Whether something of it is still to be spoken, or a call still runs."""
        return bool(self.segments or self.calls)

    @property
    def is_made(self) -> bool:
        """Whether nothing more comes of it from the models."""
        made = all(segment.is_made for segment in self.segments.values())
        return self.chart.speaking.is_active and made and not self.calls

    @property
    def unsent_ms(self) -> int:
        """How much of its speech is made and not sent yet."""
        return audio.duration_ms(self._unsent_bytes)

    @property
    def _lead_ms(self) -> int | None:
        """How far audio may be ahead; nobody plays what is out of band."""
        return self._desk.conduct.lead_ms if self.plan.in_conversation else None

    def text(self, delta: str) -> None:
        """Write text, and have spoken what is complete."""
        written = self._delivery.written(delta)
        if not written:
            return
        # Exact once the model reports; until then a delta is about a token.
        self.written += 1
        self._item_index = self.writer.text(written)
        self.reached("word", spoken=self.plan.modality == "audio")
        self._expect(self._delivery.segments(written))

    def end_text(self) -> None:
        """The message is complete: have the rest of it spoken."""
        self._expect(self._delivery.end())
        self._item_index = None

    def spoken(self, number: int, pcm: bytes, *, last: bool) -> None:
        """The voice has said more of a segment."""
        segment = self.segments[number]
        segment.made_bytes += len(pcm)
        segment.is_made = last
        self._unsent_bytes += len(pcm)
        self._unsent.append((number, pcm, last))
        self.play_on()

    def play_on(self) -> None:
        """Send as much speech as the client should have by now, and ask the voice for more."""
        lead_ms = self._lead_ms
        while self._unsent:
            number, pcm, last = self._unsent[0]
            piece = pcm if lead_ms is None else pcm[:_PIECE_BYTES]
            if lead_ms is not None and (too_early_ms := self._too_early_ms(piece, lead_ms)) > 0:
                self._desk.put(ArmTimer(PLAYOUT_TIMER, round(too_early_ms + _PLAYOUT_STEP_MS)))
                break
            self._unsent.popleft()
            if rest := pcm[len(piece) :]:
                self._unsent.appendleft((number, rest, last))
            self._send(number, piece, last=last and not rest)
        self._ask()

    def _too_early_ms(self, piece: bytes, lead_ms: int) -> float:
        """How long a piece has to wait; one that is to be played at once never does."""
        ahead_ms = self._playback.ahead_ms
        return ahead_ms + len(piece) / audio.BYTES_PER_MS - lead_ms if ahead_ms else 0.0

    def close(self, status: Status) -> None:
        """End the response on the wire."""
        for segment in self.segments.values():
            if segment.size_bytes:
                self.writer.speech_broken_off(segment.item_index, segment.whole())
        usage = Usage.of(read=self.read, written=self.written, spoken_ms=self.writer.spoken_ms)
        self.writer.close(status, self.details, usage)
        if self.clock is not None:
            self.clock.give_up(_NO_ANSWER[status], response_id=self.id)

    def said(self) -> Spoken | None:
        """The last message that has been heard, in part at least."""
        found = self.writer.last_sounded
        return Spoken(self.plan, *found) if found else None

    def reached(self, milestone: Milestone, *, spoken: bool = True) -> None:
        """The answer has come so far."""
        if self.clock is not None:
            self.clock.reached(milestone, spoken=spoken, response_id=self.id)

    def _expect(self, segments: list[Segment]) -> None:
        if segments:
            self.reached("sentence")
        for segment in segments:
            assert self._item_index is not None
            expected = _Segment(self._item_index, segment.text)
            self.segments[segment.number] = expected
            self.writer.expect_speech(self._item_index)
            expected.is_asked = segment.number < self.asked_ahead
            if not expected.is_asked:
                self._unasked.append(segment)
        self._ask()

    def _ask(self) -> None:
        """Ask the voice for what will be played soon."""
        while self._unasked and not self._has_enough:
            segment = self._unasked.popleft()
            self.segments[segment.number].is_asked = True
            plan = self.plan
            self._desk.put(
                StartSpeech(self.work_id, segment.number, segment.speech, plan.voice, plan.speed)
            )
        if bool(self._unasked) is not self._has_text:
            self._has_text = bool(self._unasked)
            self._desk.put(HaveEnoughText(self.work_id, self._has_text))

    @property
    def _has_enough(self) -> bool:
        if self._lead_ms is None:
            return False
        asked = sum(each.is_asked and not each.is_made for each in self.segments.values())
        return asked >= _SEGMENTS_ASKED or self._unsent_bytes >= audio.size_bytes(self._lead_ms)

    def _send(self, number: int, pcm: bytes, *, last: bool) -> None:
        segment = self.segments[number]
        segment.size_bytes += len(pcm)
        self._unsent_bytes -= len(pcm)
        if pcm:
            self.reached("sound")
            self.writer.audio(segment.item_index, pcm)
            if self.plan.in_conversation:
                self._playback.sent(self.writer.entry_at(segment.item_index), pcm)
        if last:
            del self.segments[number]
            piece = SpokenPiece(segment.text, audio.duration_ms(segment.size_bytes))
            self.writer.speech_done(segment.item_index, piece)
