"""One session of a conversation: feeds its dialogue, and does what that asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from s2s_actors.actors import messages as m
from s2s_actors.actors.chat import request_of
from s2s_actors.actors.mcp_work import McpWork
from s2s_actors.actors.session_timers import SessionTimers
from s2s_actors.actors.works import Works
from s2s_actors.backends.base import TtsRequest
from s2s_actors.backends.chat import Finished, TextDelta, ToolCallDelta, ToolCallStarted
from s2s_actors.errors import ClientError
from s2s_actors.protocol import codec, outputs
from s2s_actors.protocol.client_events import AudioAppend
from s2s_actors.protocol.server_events import LogProb
from s2s_actors.runtime.outlet import LaneFullError

if TYPE_CHECKING:
    from s2s_actors.actors.conversation import ConversationActor
    from s2s_actors.protocol.dialogue import Dialogue


class OpenSession:
    """All that the conversation holds for one session."""

    def __init__(
        self, actor: ConversationActor, bind: m.OpenConversation, dialogue: Dialogue
    ) -> None:
        self.dialogue = dialogue
        self._actor = actor
        self._lease = bind.lease
        self._client = bind.client
        self._scope = bind.scope
        self._started = False
        self._works = Works(bind.scope)
        owner, around = actor.outlet, actor.around
        self._timers = SessionTimers(around.clock, owner, self._lease, self._scope)
        self._mcp = McpWork(around.mcp, self._lease, self._scope, owner)

    def close(self) -> None:
        """Let go of timers, work and audio; the client's port is not ours to close."""
        self._scope.cancel()
        self.dialogue.close()

    # --- in ---------------------------------------------------------------------------

    def feed(self, message: Any) -> None:  # noqa: C901, PLR0912 - one line for each message
        """Tell the dialogue what has happened."""
        around, listening = self._actor.around, self.dialogue.listening
        self.dialogue.at(around.clock.monotonic_s() * 1000, may_guess=around.load.may_guess)
        match message:
            case m.ClientFrame():
                self._client_frame(message)
            case _ if isinstance(message, m.SpeechMessage):
                self._speech(message)
            case m.Transcribed():
                self._works.stop(message.voice_id)
                logprobs = tuple(LogProb.of(t.text, t.logprob) for t in message.transcript.tokens)
                listening.transcribed(message.voice_id, message.transcript.text, logprobs)
            case m.TranscriptionFailed(error=error):
                self._works.stop(message.voice_id)
                listening.transcription_failed(message.voice_id, error.code, error.message)
            case m.Generated():
                self._generated(message)
            case m.Spoken():
                self.dialogue.answering.results.spoken(
                    message.response_id, message.segment, message.pcm, last=message.last
                )
            case m.ResponseFailed(error=error):
                self.dialogue.answering.results.failed(
                    message.response_id, error.code, error.message
                )
            case m.StageReplaced():
                self.dialogue.stage_lost(message.stage)
            case m.TimerFired():
                if self._timers.take(message):
                    self.dialogue.timer(message.name)
            case m.McpListed():
                self._mcp.over(message.item_id)
                self.dialogue.mcp_listed(message.item_id, message.found)
            case m.McpCalled():
                self._mcp.over(message.item_id)
                self.dialogue.answering.mcp_called(message.item_id, message.result)
            case _:
                assert_never(message)

    def _speech(self, message: m.SpeechMessage) -> None:  # noqa: C901 - one line for each message
        detection = self.dialogue.listening.detection
        match message:
            case m.SpeechStarted():
                detection.speech_started(message.at_ms, message.generation, message.heard_ms)
            case m.SpeechLasted():
                detection.speech_lasted(message.at_ms, message.for_ms, message.generation)
            case m.SpeechPaused():
                detection.speech_paused(message.at_ms, message.quiet_ms, message.generation)
            case m.SpeechWeighed():
                detection.speech_weighed(
                    message.completeness, message.speech_ms, message.quiet_ms, message.generation
                )
            case m.SpeechDismissed(generation=generation):
                detection.speech_dismissed(generation)
            case m.SpeechQuiet():
                detection.speech_quiet(message.at_ms, message.for_ms, message.generation)
            case m.SpeechResumed():
                detection.speech_resumed(message.at_ms, message.generation)
            case m.SpeechStopped():
                detection.speech_stopped(message.at_ms, message.generation, message.quiet_ms)
            case m.Listened(up_to_ms=up_to_ms):
                detection.listened(up_to_ms)
            case _:
                assert_never(message)

    def _client_frame(self, message: m.ClientFrame) -> None:
        if not self._started:
            self._started = True
            self._actor.links.unit.put(m.SessionStarted(self._lease))
        event = message.event
        if isinstance(event, AudioAppend) and self.dialogue.listening.detection.is_on:
            # Voice detection first: what it can't take, the buffer must not hold either.
            try:
                data = self.dialogue.audio_of(event)
                buffer = self.dialogue.listening.buffer
                pcm = buffer.whole_samples(data)
                self._actor.stages.vad.put(
                    m.AudioIn(self._lease, pcm, buffer.end_samples, message.came_s)
                )
            except ClientError as error:
                self.dialogue.reject(error, event)
            except LaneFullError:
                self.dialogue.reject(_backpressure("Audio comes in faster than it is heard"), event)
            else:
                self.dialogue.listening.append(data)
        else:
            self.dialogue.client(event)

    def _generated(self, message: m.Generated) -> None:
        results, response_id = self.dialogue.answering.results, message.response_id
        match message.event:
            case TextDelta(text=text):
                results.text(response_id, text)
            case ToolCallStarted(call_id=call_id, name=name):
                results.call_started(response_id, call_id, name)
            case ToolCallDelta(arguments=arguments):
                results.call_arguments(response_id, arguments)
            case Finished(reason=reason, input_tokens=read, output_tokens=written):
                results.generated(response_id, cut=reason == "length", read=read, written=written)
            case _:
                assert_never(message.event)

    # --- out --------------------------------------------------------------------------

    def carry_out(self) -> None:
        """Do what the dialogue asks for, until it asks for nothing more."""
        while work := self.dialogue.take_outputs():
            for output in work:
                self._do(output)

    def _do(self, output: outputs.Output) -> None:  # noqa: C901, PLR0912 - one line for each
        match output:
            case outputs.Send(event=event):
                self._client.send(codec.encode(event))
            case outputs.ConfigureVad():
                self._actor.stages.vad.put(
                    m.ConfigureVad(self._lease, output.turn_detection, output.generation)
                )
            case outputs.StartTranscription():
                self._transcribe(output)
            case outputs.StartGeneration() | outputs.StartSpeech():
                self._start_work(output)
            case outputs.EndAudio(generation=generation):
                self._actor.stages.vad.put(m.AudioEnded(self._lease, generation))
            case outputs.ExpectEcho():
                self._actor.stages.vad.put(
                    m.AnswerPlayed(self._lease, output.pcm, output.at_sample)
                )
            case outputs.StopWork(work_id=work_id):
                self._works.stop(work_id)
            case outputs.CommitWork(work_id=work_id):
                self._works.commit(work_id)
            case outputs.HaveEnoughText(work_id=work_id, enough=enough):
                self._works.have_enough(work_id, enough=enough)
            case outputs.ArmTimer(name=name, delay_ms=delay_ms):
                self._timers.arm(name, delay_ms / 1000)
            case outputs.DisarmTimer(name=name):
                self._timers.disarm(name)
            case outputs.StartMcpListing() | outputs.StartMcpCall() | outputs.StopMcp():
                self._mcp.do(output, lambda work_id: self._works.of(work_id).cancel)
            case outputs.Count():
                self._actor.around.board.count(output)
            case outputs.TurnMeasured(waterfall=waterfall):
                around = self._actor.around
                around.board.publish_turn(self._lease, waterfall, around.clock.wall_s())
            case outputs.HangUp():
                self._actor.links.unit.put(
                    m.EndSession(self._lease, output.reason, close_code=output.close_code)
                )
            case _:
                assert_never(output)

    def _transcribe(self, start: outputs.StartTranscription) -> None:
        work = self._works.of(start.voice_id, speculative=start.speculative, glance=start.glance)
        message = m.Transcribe(
            self._lease,
            start.voice_id,
            start.pcm,
            start.language,
            start.prompt,
            work.cancel,
            start.logprobs,
            start.beginning,
            work.urgency,
        )
        try:
            self._actor.stages.stt.put(message)
        except LaneFullError:
            self._works.stop(start.voice_id)
            self.dialogue.listening.transcription_failed(
                start.voice_id, "stt_backpressure", "Speech recognition is too far behind."
            )

    def _start_work(self, start: outputs.StartGeneration | outputs.StartSpeech) -> None:
        work_id, lease = start.response_id, self._lease
        try:
            if isinstance(start, outputs.StartGeneration):
                work = self._works.of(work_id, speculative=start.speculative)
                self._actor.stages.llm.put(
                    m.Generate(lease, work_id, request_of(start), work.cancel, work.urgency)
                )
            else:
                work = self._works.of(work_id)
                request = TtsRequest(start.text, start.voice, start.speed)
                self._actor.stages.tts.put(
                    m.Speak(lease, work_id, start.segment, request, work.cancel, work.urgency)
                )
        except LaneFullError:
            self.dialogue.answering.results.failed(
                work_id, "stage_backpressure", "The pipeline is too far behind."
            )


def _backpressure(what: str) -> ClientError:
    return ClientError("input_backpressure", f"{what}: this event was dropped, send it later.")
