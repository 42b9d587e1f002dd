"""What the user has said: committed turns, their transcripts, and when they are answered.

What is said in a message that the client creates goes the same way as a turn that the
client commits: it is transcribed, and asks for no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol import audio
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.backchannels import is_backchannel
from s2s_actors.protocol.debt import AnswerDebt
from s2s_actors.protocol.dictation import Dictation
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.outputs import Count
from s2s_actors.protocol.turn import Turn, spoken_message
from s2s_actors.protocol.turn_clock import TurnClock
from statecharts.turn import Answer, KeepGuess, Transcribe, TurnChart

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.dictation import Piece
    from s2s_actors.protocol.transcripts import Transcripts


class Turns:
    """The turns of a session after they were heard.

    Promises: a committed turn gets one transcript or one failure; it is answered at most
    once, and words that were talked over are answered together with what followed.
    """

    def __init__(
        self,
        desk: Desk,
        answering: Answering,
        transcripts: Transcripts,
        *,
        user_speaks: Callable[[], bool],
    ) -> None:
        """Begin with no turn.

        Args:
            desk: Takes what is to be done.
            answering: Begins the answers.
            transcripts: Asks speech recognition, and tells the client.
            user_speaks: Whether the next turn is being heard right now.
        """
        self._desk = desk
        self._answering = answering
        self._user_speaks = user_speaks
        self._pending: list[Turn] = []
        self._transcripts = transcripts
        self.debt = AnswerDebt(answering)

    @property
    def context_ready(self) -> bool:
        """Whether everything that was said is known as text."""
        return not self._pending

    def commit(self, turn: Turn, pcm: bytes, end_ms: int, *, answer: bool) -> None:
        """Make a turn an item and have transcribed what is not known of it.

        Args:
            turn: It has been heard.
            pcm: Its audio.
            end_ms: Where it ends on the session's clock.
            answer: Whether it is answered without being asked.
        """
        turn.length_ms = audio.duration_ms(len(pcm))
        turn.wanted = answer
        turn.clock = turn.clock or TurnClock(self._desk, turn.item_id)
        if answer and self._answering.clock is not None:
            self._answering.clock.give_up("talked_over")
        self._answering.clock = turn.clock
        turn.entry = self._add_item(turn.item_id, pcm, transcript=None)
        self._pending.append(turn)
        open_pcm = pcm[audio.size_bytes(turn.dictation.open_ms - turn.start_ms) :]
        self._advance(turn, "commit", pcm=open_pcm, end_ms=end_ms, answer=answer)
        # An answer that was drafted is begun by now, or is not wanted.
        self._answering.drop_draft()
        turn.clock.reached("settled")
        if turn.dictation.failure is not None:
            self.failed(turn, *turn.dictation.failure)

    def commit_silence(self, item_id: str, pcm: bytes) -> None:
        """Make silence an item and answer it: there is nothing to transcribe."""
        self._add_item(item_id, pcm, transcript="")
        self._transcripts.tell(item_id, "", delta="", length_ms=audio.duration_ms(len(pcm)))
        self.debt.answer(context_ready=self.context_ready)

    def hear(self, entry: Entry, *, response_id: str | None) -> None:
        """Have what is said in a created message transcribed.

        Args:
            entry: The message; parts whose words are known are left alone.
            response_id: Set if it is in the input of a response, not in the conversation.
        """
        for index in entry.unheard:
            pcm = entry.voices[index]
            turn = Turn(
                entry.item.id,
                TurnChart(),
                start_ms=0,
                dictation=Dictation(0),
                length_ms=audio.duration_ms(len(pcm)),
                entry=entry,
                content_index=index,
                voice_id=new_id("voice"),
                response_id=response_id,
            )
            self._pending.append(turn)
            self._desk.put(Count(audio_input_ms=turn.length_ms))
            self._advance(turn, "commit", pcm=pcm, answer=False)

    def overtake(self) -> None:
        """The user speaks on: what is not transcribed yet gets no answer of its own."""
        for turn in self._pending:
            turn.chart.send("overtake")
            if turn.clock is not None:
                turn.clock.give_up("talked_over")

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

    def heard(self, turn: Turn) -> None:
        """More of a committed turn is known; it may be all of it, and it may be no words."""
        if not turn.dictation.is_known:
            return
        self._pending.remove(turn)
        text = "" if turn.is_echo else turn.dictation.text
        assert turn.entry is not None
        turn.entry.write_down(turn.content_index, text)
        if self._is_shown(turn):
            self._transcripts.tell(
                turn.item_id,
                text,
                delta=turn.partials.rest(text),
                length_ms=turn.length_ms,
                content_index=turn.content_index,
                logprobs=turn.dictation.logprobs if text else (),
            )
        if turn.clock is not None:
            turn.clock.reached("heard")
        resumes = self._was_nothing(turn, text)
        if turn.clock is not None and (resumes or not text):
            turn.clock.give_up("unwanted" if text else "noise")
        self._advance(turn, "heard", text="" if resumes else text)
        if turn.chart.silent.is_active and turn.wanted and text and not resumes:
            self.debt.owe()  # the user has talked past these words
        if resumes:
            assert turn.interruption is not None
            self._answering.go_on(turn.interruption)
        self.settle(None if turn.is_created else turn)

    def _was_nothing(self, turn: Turn, text: str) -> bool:
        """Whether the turn has stopped an answer for nothing, which can go on now."""
        return (
            turn.interruption is not None
            and turn.chart.transcribing.is_active
            and (not text or (is_backchannel(text) and not turn.interruption.was_nearly_over))
            and not self._user_speaks()
            and self.context_ready
            and turn.interruption.can_go_on
        )

    def failed(self, turn: Turn, code: str, message: str) -> None:
        """A committed turn could not be transcribed."""
        if turn not in self._pending:
            return
        self._pending.remove(turn)
        for piece in turn.dictation.settled:
            self._transcripts.drop(piece)
        if turn.clock is not None:
            turn.clock.give_up("failed")
        alone = turn.wanted and not turn.chart.overtaken.is_active and not self.debt.owed
        self._advance(turn, "failed")
        if turn.response_id is not None:
            self._answering.results.failed(turn.response_id, code, message)
        elif self._transcripts.are_shown:
            if self._is_shown(turn):
                self._transcripts.tell_failure(turn.item_id, turn.content_index, code, message)
        elif alone and self._answering.current is None:
            # Without transcription events the failure would be dead air: fail the answer.
            self._answering.fail_at_once(code, message)
        self.settle(None if turn.is_created else turn)

    # --- steps ----------------------------------------------------------------------------

    def _add_item(self, item_id: str, pcm: bytes, *, transcript: str | None) -> Entry:
        item = spoken_message(item_id, transcript)
        entry = Entry(item, pcm=pcm)
        previous = self._desk.conversation.add(entry)
        self._desk.send(ev.AudioCommitted(item_id=item_id, previous_item_id=previous))
        self._desk.send(ev.ItemAdded(item=item, previous_item_id=previous))
        self._desk.send(ev.ItemDone(item=item, previous_item_id=previous))
        self._desk.put(Count(audio_input_ms=audio.duration_ms(len(pcm))))
        return entry

    def _advance(
        self, turn: Turn, event: str, *, pcm: bytes = b"", end_ms: int = 0, **data: bool | str
    ) -> None:
        for effect in turn.chart.fire(event, **data):
            match effect:
                case Transcribe() if not pcm and turn.dictation.settled:
                    self.heard(turn)  # the pieces are all of it
                case Transcribe():
                    voice_id = turn.voice_id or turn.item_id
                    self._settle_last(
                        turn, self._transcripts.ask(turn, voice_id, pcm, end_ms=end_ms)
                    )
                case KeepGuess():
                    assert turn.dictation.guess is not None
                    self._transcripts.keep(turn.dictation.guess)
                    self._settle_last(turn, turn.dictation.guess)
                    self.heard(turn)
                case Answer():
                    self.debt.answer(context_ready=self.context_ready)
                case _:
                    raise NotImplementedError(effect)

    def _settle_last(self, turn: Turn, piece: Piece) -> None:
        turn.dictation.settle(piece, next_ms=piece.end_ms)
        if turn.dictation.hypothesis is not None:
            self._transcripts.drop(turn.dictation.hypothesis)

    def _is_shown(self, turn: Turn) -> bool:
        """Whether the client may know the words: the id of an item that is gone may be taken."""
        if not turn.is_created:
            return True
        return self._desk.conversation.find(turn.item_id) is turn.entry
