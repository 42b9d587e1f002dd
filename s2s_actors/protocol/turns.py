"""What the user has said: committed turns, their transcripts, and when they are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UnsetType
from msgspec.structs import replace

from s2s_actors.protocol import audio
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.conversation import Entry
from s2s_actors.protocol.debt import AnswerDebt
from s2s_actors.protocol.items import InputAudio, Message
from s2s_actors.protocol.outputs import Count, StartTranscription
from s2s_actors.protocol.response import ErrorDetail
from statecharts.turn import Answer, Transcribe, TurnChart

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.desk import Desk


@dataclass(slots=True)
class Turn:
    """One utterance on its way to its transcript.

    Attributes:
        item_id: Id of its item, announced before there is one.
        chart: Where it is on its way.
        start_ms: Where it begins on the session's clock.
        length_ms: How long it is, once it is committed.
        wanted: Whether the session answers it without being asked.
        entry: Its item, once it is committed.
    """

    item_id: str
    chart: TurnChart
    start_ms: int
    length_ms: int = 0
    wanted: bool = False
    entry: Entry | None = None


class Turns:
    """The turns of a session after they were heard.

    Promises: a committed turn gets one transcript or one failure; it is answered at most
    once, and words that were talked over are answered together with what followed.
    """

    def __init__(
        self, desk: Desk, answering: Answering, *, user_speaks: Callable[[], bool]
    ) -> None:
        """Begin with no turn.

        Args:
            desk: Takes what is to be done.
            answering: Begins the answers.
            user_speaks: Whether the next turn is being heard right now.
        """
        self._desk = desk
        self._answering = answering
        self._user_speaks = user_speaks
        self._pending: dict[str, Turn] = {}
        self.debt = AnswerDebt(answering)

    @property
    def context_ready(self) -> bool:
        """Whether everything that was said is known as text."""
        return not self._pending

    def commit(self, turn: Turn, pcm: bytes, *, answer: bool) -> None:
        """Make a turn an item and have it transcribed."""
        turn.length_ms = audio.duration_ms(len(pcm))
        turn.wanted = answer
        turn.entry = self._add_item(turn.item_id, pcm, transcript=None)
        self._pending[turn.item_id] = turn
        self._advance(turn, "commit", pcm=pcm, answer=answer)

    def commit_silence(self, item_id: str, pcm: bytes) -> None:
        """Make silence an item and answer it: there is nothing to transcribe."""
        self._add_item(item_id, pcm, transcript="")
        self._announce(item_id, "", audio.duration_ms(len(pcm)))
        self.debt.answer(context_ready=self.context_ready)

    def overtake(self) -> None:
        """The user speaks on: what is not transcribed yet gets no answer of its own."""
        for turn in self._pending.values():
            turn.chart.send("overtake")

    def settle(self, turn: Turn | None = None) -> None:
        """All is known that was said, or nothing more will come of it: answer what waited."""
        if not self.context_ready:
            return
        self._answering.context_ready()
        if (
            self.debt.owed
            and self._desk.answers
            and not self._user_speaks()
            and (not turn or turn.wanted)
        ):
            self.debt.answer(context_ready=True)

    # --- transcripts ----------------------------------------------------------------------

    def heard(self, item_id: str, text: str) -> None:
        """The words of an utterance are known; they may be none."""
        turn = self._pending.pop(item_id, None)
        if turn is None:
            return
        text = text.strip()
        self._write_down(turn, text)
        self._announce(item_id, text, turn.length_ms)
        self._advance(turn, "heard", text=text)
        if turn.chart.silent.is_active and turn.wanted and text:
            self.debt.owe()  # the user has talked past these words
        self.settle(turn)

    def failed(self, item_id: str, code: str, message: str) -> None:
        """An utterance could not be transcribed."""
        turn = self._pending.pop(item_id, None)
        if turn is None:
            return
        alone = turn.wanted and not turn.chart.overtaken.is_active and not self.debt.owed
        self._advance(turn, "failed")
        if self._desk.session.audio.input.transcription is not None:
            error = ErrorDetail(type="server_error", code=code, message=message)
            self._desk.send(ev.TranscriptionFailed(item_id=item_id, content_index=0, error=error))
        elif alone and self._answering.current is None:
            # Without transcription events the failure would be dead air: fail the answer.
            self._answering.fail_at_once(code, message)
        self.settle(turn)

    def all_failed(self, code: str, message: str) -> None:
        """Speech recognition is gone, and with it everything that it was doing."""
        for item_id in list(self._pending):
            self.failed(item_id, code, message)

    # --- steps ----------------------------------------------------------------------------

    def _add_item(self, item_id: str, pcm: bytes, *, transcript: str | None) -> Entry:
        item = Message(id=item_id, role="user", content=(InputAudio(transcript=transcript),))
        entry = Entry(item, pcm=bytearray(pcm))
        previous = self._desk.conversation.add(entry)
        self._desk.send(ev.AudioCommitted(item_id=item_id, previous_item_id=previous))
        self._desk.send(ev.ItemAdded(item=item, previous_item_id=previous))
        self._desk.send(ev.ItemDone(item=item, previous_item_id=previous))
        self._desk.put(Count(audio_input_ms=audio.duration_ms(len(pcm))))
        return entry

    def _advance(self, turn: Turn, event: str, *, pcm: bytes = b"", **data: bool | str) -> None:
        for effect in turn.chart.fire(event, **data):
            match effect:
                case Transcribe():
                    self._transcribe(turn, pcm)
                case Answer():
                    self.debt.answer(context_ready=self.context_ready)
                case _:
                    raise NotImplementedError(effect)

    def _transcribe(self, turn: Turn, pcm: bytes) -> None:
        settings = self._desk.session.audio.input.transcription
        language = settings.language if settings else None
        prompt = settings.prompt if settings else None
        self._desk.put(
            StartTranscription(
                turn.item_id,
                pcm,
                language=None if isinstance(language, UnsetType) else language,
                prompt=None if isinstance(prompt, UnsetType) else prompt,
            )
        )

    def _write_down(self, turn: Turn, text: str) -> None:
        entry = turn.entry
        assert entry is not None
        assert isinstance(entry.item, Message)
        entry.item = replace(entry.item, content=(InputAudio(transcript=text),))

    def _announce(self, item_id: str, text: str, length_ms: int) -> None:
        if self._desk.session.audio.input.transcription is None:
            return
        if text:
            self._desk.send(ev.TranscriptionDelta(item_id=item_id, content_index=0, delta=text))
        self._desk.send(
            ev.TranscriptionCompleted(
                item_id=item_id,
                content_index=0,
                transcript=text,
                usage=ev.DurationUsage(seconds=length_ms / 1000),
            )
        )
