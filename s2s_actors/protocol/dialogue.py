"""A dialogue: everything that a session decides, as pure code.

Feed it what happens (client events, results of the stages, timers); it answers with a list
of outputs (events to send, work to start). It does no I/O, has no threads and no clock, so
any sequence of events can be played in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.answering import Answering
from s2s_actors.protocol.created_audio import entry_of
from s2s_actors.protocol.desk import Desk
from s2s_actors.protocol.detection import MUTE_TIMER
from s2s_actors.protocol.history import History
from s2s_actors.protocol.input_audio import InputAudioBuffer
from s2s_actors.protocol.item_checks import prepared
from s2s_actors.protocol.listening import IDLE_TIMER, Listening
from s2s_actors.protocol.mcp_items import McpApprovalResponse
from s2s_actors.protocol.merge import apply_update, voice_of, without_secrets
from s2s_actors.protocol.microphone import Microphone
from s2s_actors.protocol.outputs import ArmTimer, HangUp
from s2s_actors.protocol.playback import Playback
from s2s_actors.protocol.response import ResponseParams
from s2s_actors.protocol.response_run import PLAYOUT_TIMER
from s2s_actors.protocol.session import RealtimeSession

if TYPE_CHECKING:
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.protocol.outputs import Output
    from s2s_actors.protocol.session import Session
    from s2s_actors.protocol.session_start import SessionStart

SESSION_TIMER = "session"


class Dialogue:
    """One session's conversation with a client."""

    def __init__(self, start: SessionStart) -> None:
        self._start = start
        self._desk = Desk(start.session(), start.conduct)
        self._history = History(self._desk.conversation, start.history)
        buffer = InputAudioBuffer()
        self._answering = Answering(
            self._desk,
            Playback(self._desk, lambda: buffer.end_samples),
            on_over=self._response_over,
            context_tokens=start.context_tokens,
        )
        self.listening = Listening(self._desk, self._answering, buffer)

    def at(self, now_ms: float, *, may_guess: bool = True) -> None:
        """What follows happens now.

        Args:
            now_ms: From some fixed moment; never goes back.
            may_guess: Whether the machine has time for work that may prove useless.
        """
        self._desk.now_ms = now_ms
        self._desk.may_guess = may_guess

    @property
    def session(self) -> Session:
        """The effective session."""
        return self._desk.session

    def take_outputs(self) -> list[Output]:
        """Hand over what is to be done, in this order; what is kept is within its limits then."""
        for item_id in self._history.trim():
            self._desk.send(ev.ItemDeleted(item_id=item_id))
        return self._desk.take()

    def close(self) -> None:
        """Let go of all audio at once: garbage collection may not look at this for long."""
        self._desk.conversation.clear()
        self.listening.buffer.clear()

    def open(self) -> None:
        """Greet the client."""
        session = self.session
        self._desk.send(ev.SessionCreated(session=without_secrets(session)))
        self._desk.put(ArmTimer(SESSION_TIMER, round(self._start.max_duration_s * 1000)))
        self.listening.configure_detection()
        if isinstance(session, RealtimeSession):
            self._answering.mcp_servers.session_has(session.tools)

    # --- the client -----------------------------------------------------------------------

    def client(self, event: ce.ClientEvent) -> None:
        """Act on a client event; one that is not acceptable is answered and changes nothing."""
        try:
            self._act(event)
        except ClientError as error:
            self.reject(error, event)

    def reject(self, error: ClientError, event: ce.ClientEvent) -> None:
        """Answer a client event that was not acceptable."""
        error.event_id = event.event_id
        self._desk.send(ev.client_error(error))

    def audio_of(self, event: ce.AudioAppend) -> bytes:
        """Decode an append, once and in order: what :meth:`Listening.append` takes.

        Raises:
            ClientError: The append is not acceptable.
        """
        return self.listening.microphone.decode(audio.decode_append(event.audio))

    def _act(self, event: ce.ClientEvent) -> None:  # noqa: C901 - one line for each event
        match event:
            case ce.AudioAppend():
                self.listening.append(self.audio_of(event))
            case ce.SessionUpdate():
                self._update(event)
            case ce.AudioCommit():
                self.listening.commit()
            case ce.AudioClear():
                self.listening.clear()
            case ce.ItemCreate():
                self._create_item(event)
            case ce.ItemDelete():
                self._desk.conversation.remove(event.item_id)
                self._desk.send(ev.ItemDeleted(item_id=event.item_id))
            case ce.ItemRetrieve():
                entry = self._desk.conversation.get(
                    event.item_id, code="item_retrieve_invalid_item_id", doing="retrieving"
                )
                self._desk.send(ev.ItemRetrieved(item=entry.with_audio(self.session.audio)))
            case ce.ItemTruncate():
                self._truncate(event)
            case ce.ResponseCreate():
                self._create_response(event.response or ResponseParams())
            case ce.ResponseCancel():
                self._answering.cancel(event.response_id)
            case ce.OutputAudioClear():
                raise ClientError(
                    "invalid_value",
                    "Invalid value: 'output_audio_buffer.clear' needs a transport with an output "
                    "buffer; over a websocket use 'response.cancel'.",
                    param="type",
                )
            case _:
                assert_never(event)

    def _update(self, event: ce.SessionUpdate) -> None:
        old = self.session
        new = apply_update(old, event.session)
        if self._answering.results.has_spoken and voice_of(new) != voice_of(old):
            raise ClientError(
                "cannot_update_voice",
                "Cannot update a conversation's voice if assistant audio is present.",
                param="session.audio.output.voice",
            )
        heard, before = new.audio.input, old.audio.input
        new_format = heard.format != before.format
        new_way = new_format or heard.noise_reduction != before.noise_reduction
        microphone = Microphone(heard) if new_way else None
        self._desk.session = new
        if microphone is not None:
            self.listening.change_microphone(microphone, new_format=new_format)
        if new.audio.input.turn_detection != old.audio.input.turn_detection:
            self.listening.configure_detection()
        self._desk.send(ev.SessionUpdated(session=without_secrets(new)))
        if isinstance(new, RealtimeSession):
            self._answering.mcp_servers.session_has(new.tools)

    def _create_item(self, event: ce.ItemCreate) -> None:
        item = prepared(event.item, self._desk.conversation)
        if isinstance(item, McpApprovalResponse):
            self._answering.mcp_calls.check(item)
        entry = entry_of(item, self.session.audio.input.format, path="item")
        self._history.check(entry, param="item")
        previous = self._desk.conversation.add(entry, after=event.previous_item_id)
        self._desk.send(ev.ItemAdded(item=entry.item, previous_item_id=previous))
        self._desk.send(ev.ItemDone(item=entry.item, previous_item_id=previous))
        self.listening.hear(entry)
        if isinstance(item, McpApprovalResponse):
            self._answering.mcp_calls.decide(item)

    def _create_response(self, params: ResponseParams) -> None:
        run = self._answering.create(params, context_ready=self.listening.context_ready)
        if run.plan.in_conversation:
            self.listening.response_asked_for()
        for entry in run.plan.unheard:
            self.listening.hear(entry, response_id=run.id)
        run.plan.let_go_of_audio()

    def _truncate(self, event: ce.ItemTruncate) -> None:
        self._desk.conversation.truncate(
            event.item_id, content_index=event.content_index, audio_end_ms=event.audio_end_ms
        )
        self._desk.send(
            ev.ItemTruncated(
                item_id=event.item_id,
                content_index=event.content_index,
                audio_end_ms=event.audio_end_ms,
            )
        )

    # --- the stages -----------------------------------------------------------------------

    @property
    def answering(self) -> Answering:
        """The assistant's side, for results of the language model and the voice."""
        return self._answering

    def mcp_listed(self, item_id: str, found: tuple[McpToolInfo, ...] | McpError) -> None:
        """An MCP server has told its tools, or has failed to."""
        self._answering.mcp_listed(item_id, found, context_ready=self.listening.context_ready)

    def stage_lost(self, stage: str) -> None:
        """A stage crashed and a fresh one took its place; its work is lost."""
        message = f"The {stage.upper()} stage failed and was restarted."
        match stage:
            case "vad":
                self.listening.detection.lost()
            case "stt":
                self.listening.all_failed("stage_failed", message)
            case _:
                self._answering.results.all_failed("stage_failed", message)

    # --- the clock ------------------------------------------------------------------------

    def timer(self, name: str) -> None:
        """A timer that was armed has come."""
        if name == IDLE_TIMER:
            self.listening.idle_timeout()
        elif name == MUTE_TIMER:
            self.listening.detection.mute_timeout()
        elif name == PLAYOUT_TIMER:
            self._answering.results.play_on()
        elif name == SESSION_TIMER:
            minutes = self._start.max_duration_s / 60
            text = f"Your session hit the maximum duration of {minutes:g} minutes."
            self._desk.send(ev.server_error("session_expired", text))
            self._desk.put(HangUp(1001, text))

    def _response_over(self) -> None:
        self.listening.response_over()
