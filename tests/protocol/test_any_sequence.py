"""Any sequence of client events, results of stages and timers keeps the protocol."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.protocol.playing import Player, speech, user_text

if TYPE_CHECKING:
    from s2s_actors.protocol.outputs import StartSpeech

WORDS = st.sampled_from(
    ["", " ", "\n", "Hello", " there.", " How are you? ", "Fine!", "*", "日本。", "\u200b", "é🎉"]
)
HEARD = st.sampled_from(["", "   ", "Hello there.", "Was it you?"])
VOICE = {"type": "input_audio", "audio": base64.b64encode(speech(200, 5)).decode()}
VOICES = st.lists(
    st.sampled_from([VOICE, VOICE | {"transcript": "Known."}, VOICE | {"audio": "x"}]), max_size=3
)
ITEM_IDS = st.sampled_from(["mine", "yours", "x" * 33, "nowhere", ""])
OPTIONS: dict[str, Any] = {
    "conversation": st.sampled_from(["auto", "none", "other", 5]),
    "output_modalities": st.sampled_from([["text"], ["audio"], ["text", "audio"], "text"]),
    "metadata": st.sampled_from([None, {"a": "b"}, {"a": 5}, {"k" * 65: "v"}]),
    "max_output_tokens": st.sampled_from([1, "inf", 0, None]),
    "instructions": st.just("Be brief."),
    "input": st.sampled_from(
        [
            [],
            [user_text("Hi")],
            [user_text("Hi", content=[VOICE])],
            [{"type": "item_reference", "id": "mine"}],
            [5],
        ]
    ),
    "audio": st.sampled_from([{}, {"output": {"speed": 1.5}}, {"output": {"speed": 9}}]),
}
RESPONSES = st.one_of(st.none(), st.fixed_dictionaries({}, optional=OPTIONS))
DETECTION = st.sampled_from(
    [
        None,
        {},
        {"type": "server_vad"},
        {"type": "server_vad", "idle_timeout_ms": 5000},
        {"type": "server_vad", "create_response": False},
        {"type": "server_vad", "interrupt_response": False},
        {"type": "semantic_vad"},
        {"type": "semantic_vad", "eagerness": "keen"},
        {"threshold": 0.7},
        {"threshold": 7},
    ]
)
INPUT = st.fixed_dictionaries(
    {},
    optional={
        "turn_detection": DETECTION,
        "transcription": st.sampled_from([None, {}, {"model": "whisper-1"}, {"model": None}]),
    },
)
RAW = st.sampled_from(
    ["{", "[]", "5", "null", "[" * 2000, "{}", '{"type":"x.y"}', '{"type":"x","event_id":"bad"}']
)


class AnySequence(RuleBasedStateMachine):
    """Plays what may happen in any order; the player checks every event."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player()
        self.old_segments: list[StartSpeech] = []
        self.old_responses: list[str] = ["resp_unknown"]
        self.old_utterances: list[str] = ["item_unknown"]
        self.in_call: set[str] = set()
        self.serial = 0

    # --- the client -----------------------------------------------------------------------

    def say(self, kind: str, **fields: Any) -> None:
        self.serial += 1
        if self.serial % 3:
            fields["event_id"] = f"c{self.serial}"
        self.player.send(kind, **fields)

    def some_item(self, data: st.DataObject) -> str:
        items = self.player.checker.items
        hearing = [e["item_id"] for e in self.player.events if e["type"].endswith("started")]
        known = st.sampled_from([*items, *hearing]) if items or hearing else st.nothing()
        return data.draw(st.one_of(known, ITEM_IDS))

    @initialize(transcription=st.sampled_from([None, {"model": "whisper-1"}]))
    def settings(self, transcription: object) -> None:
        self.player.update_input(transcription=transcription)

    @rule(length_ms=st.sampled_from([0, 1, 40, 99, 100, 700, 6000]), odd=st.booleans())
    def append(self, length_ms: int, odd: bool) -> None:
        self.player.append(speech(length_ms) + b"x" * odd)

    @rule(audio=st.sampled_from([None, "abc", "!!!", "", 5]))
    def append_nonsense(self, audio: object) -> None:
        self.say("input_audio_buffer.append", audio=audio)

    @rule(kind=st.sampled_from(["commit", "clear"]))
    def on_buffer(self, kind: str) -> None:
        self.say(f"input_audio_buffer.{kind}")

    @rule(raw=RAW)
    def send_nonsense(self, raw: str) -> None:
        self.player.send_raw(raw)

    @rule(settings=INPUT)
    def update_input(self, settings: dict[str, Any]) -> None:
        self.say("session.update", session={"type": "realtime", "audio": {"input": settings}})

    @rule(
        session=st.sampled_from(
            [
                {"type": "realtime", "output_modalities": ["text"]},
                {"type": "realtime", "output_modalities": ["audio"]},
                {"type": "realtime", "audio": {"output": {"voice": "ash"}}},
                {"type": "realtime", "audio": {"output": {"voice": {"id": "verse"}}}},
                {"type": "realtime", "voice": "ash"},
                {"type": "transcription"},
                {},
                None,
            ]
        )
    )
    def update(self, session: object) -> None:
        self.say("session.update", session=session)

    @rule(data=st.data(), text=WORDS)
    def create_item(self, data: st.DataObject, text: str) -> None:
        fields = {"previous_item_id": self.some_item(data)} if data.draw(st.booleans()) else {}
        item = user_text(text)
        if data.draw(st.booleans()):
            item["id"] = self.some_item(data)
        self.say("conversation.item.create", item=item, **fields)

    @rule(data=st.data(), content=VOICES)
    def create_voice(self, data: st.DataObject, content: list[dict[str, Any]]) -> None:
        item = user_text("", content=content)
        if data.draw(st.booleans()):
            item["id"] = self.some_item(data)
        self.say("conversation.item.create", item=item)

    @rule(call_id=st.sampled_from(["call_1", "call_2", "call_9"]))
    def create_output(self, call_id: str) -> None:
        item = {"type": "function_call_output", "call_id": call_id, "output": "{}"}
        self.say("conversation.item.create", item=item)

    @rule(data=st.data(), kind=st.sampled_from(["delete", "retrieve"]))
    def on_item(self, data: st.DataObject, kind: str) -> None:
        self.say(f"conversation.item.{kind}", item_id=self.some_item(data))

    @rule(data=st.data(), at_ms=st.sampled_from([0, 1, 250, 10_000]), index=st.integers(0, 1))
    def truncate(self, data: st.DataObject, at_ms: int, index: int) -> None:
        self.say(
            "conversation.item.truncate",
            item_id=self.some_item(data),
            audio_end_ms=at_ms,
            content_index=index,
        )

    @rule(response=RESPONSES)
    def create_response(self, response: dict[str, Any] | None) -> None:
        self.say("response.create", response=response)

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        ids = [*self.player.checker.open_responses, "resp_none"]
        chosen = data.draw(st.one_of(st.none(), st.sampled_from(ids)))
        self.say("response.cancel", **({"response_id": chosen} if chosen else {}))

    @rule()
    def clear_output(self) -> None:
        self.say("output_audio_buffer.clear")

    # --- what leads deeper than single steps do ---------------------------------------------

    @rule(text=st.sampled_from(["Hello.", "", "Well"]), beside=st.booleans())
    def ask_and_begin_to_answer(self, text: str, beside: bool) -> None:
        options = {"conversation": "none"} if beside else {}
        self.say("response.create", response=options)
        for response_id in list(self.player.work.generations)[-1:]:
            self.player.writes(response_id, text + " This is a sentence. And ")
            self.old_responses.append(response_id)
        for segment in self.player.work.segments[-1:]:
            self.old_segments.append(segment)
            self.player.speaks(segment, speech(600, 3), last=False)

    @precondition(lambda self: self.player.work.segments)
    @rule(at_ms=st.sampled_from([0, 1, 250, 700]))
    def truncate_what_is_being_said(self, at_ms: int) -> None:
        items = self.player.checker.items
        if items:
            self.say(
                "conversation.item.truncate",
                item_id=items[-1],
                content_index=0,
                audio_end_ms=at_ms,
            )

    @precondition(lambda self: self.player.checker.open_responses)
    @rule()
    def replace_what_is_being_said(self) -> None:
        items = self.player.checker.items
        if items:
            self.say("conversation.item.delete", item_id=items[-1])
            self.say("conversation.item.create", item=user_text("Mine.", id=items[-1]))

    @rule(length_ms=st.sampled_from([100, 2000]))
    def say_something(self, length_ms: int) -> None:
        self.player.starts()
        self.player.append(speech(length_ms))
        self.player.stops()

    # --- voice detection ------------------------------------------------------------------

    @rule(back_ms=st.sampled_from([0, 300]), age=st.sampled_from([0, 0, 0, 1]))
    def speech_starts(self, back_ms: int, age: int) -> None:
        at_ms = max(0, self.player.now_ms - back_ms)
        self.player.starts(at_ms, generation=self.player.work.generation - age)

    @rule(back_ms=st.sampled_from([0, 300]), age=st.sampled_from([0, 0, 0, 1]))
    def speech_stops(self, back_ms: int, age: int) -> None:
        at_ms = max(0, self.player.now_ms - back_ms)
        self.player.stops(at_ms, generation=self.player.work.generation - age)

    # --- speech recognition ---------------------------------------------------------------

    @precondition(lambda self: self.player.work.utterances)
    @rule(data=st.data(), text=HEARD, fails=st.sampled_from([False, False, True]))
    def transcribe(self, data: st.DataObject, text: str, fails: bool) -> None:
        item_id = data.draw(st.sampled_from(list(self.player.work.utterances)))
        self.old_utterances.append(item_id)
        if fails:
            self.player.mishears(item_id)
        else:
            self.player.hears(item_id, text)

    @rule(data=st.data())
    def transcribe_too_late(self, data: st.DataObject) -> None:
        assert self.player.hears(data.draw(st.sampled_from(self.old_utterances)), "Late.") == []

    # --- the language model ---------------------------------------------------------------

    def some_generation(self, data: st.DataObject) -> str:
        response_id = data.draw(st.sampled_from(list(self.player.work.generations)))
        if response_id not in self.old_responses:
            self.old_responses.append(response_id)
        return response_id

    @precondition(lambda self: self.player.work.generations)
    @rule(data=st.data(), delta=WORDS)
    def write(self, data: st.DataObject, delta: str) -> None:
        response_id = self.some_generation(data)
        self.in_call.discard(response_id)
        self.player.writes(response_id, delta)

    @precondition(lambda self: self.player.work.generations)
    @rule(data=st.data(), call_id=st.sampled_from(["call_1", "call_2"]))
    def call(self, data: st.DataObject, call_id: str) -> None:
        response_id = self.some_generation(data)
        self.in_call.add(response_id)
        self.player.calls(response_id, call_id, "look", "{", "}")

    @precondition(lambda self: self.player.work.generations)
    @rule(data=st.data(), cut=st.booleans())
    def end_generation(self, data: st.DataObject, cut: bool) -> None:
        self.player.ends(self.some_generation(data), cut=cut)

    @precondition(lambda self: self.player.work.generations)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        self.player.fails(self.some_generation(data))

    @rule(data=st.data(), what=st.sampled_from(["text", "call", "end", "fail"]))
    def model_is_too_late(self, data: st.DataObject, what: str) -> None:
        over = [i for i in self.old_responses if i not in self.player.checker.open_responses]
        response_id = data.draw(st.sampled_from(over))
        late = {
            "text": lambda: self.player.writes(response_id, "Late."),
            "call": lambda: self.player.calls(response_id, "call_9", "late", "{}"),
            "end": lambda: self.player.ends(response_id),
            "fail": lambda: self.player.fails(response_id),
        }
        assert late[what]() == []

    # --- the voice ------------------------------------------------------------------------

    @precondition(lambda self: self.player.work.segments)
    @rule(data=st.data(), ms=st.sampled_from([0, 100, 900]), last=st.booleans())
    def speak(self, data: st.DataObject, ms: int, last: bool) -> None:
        segment = data.draw(st.sampled_from(self.player.work.segments))
        self.old_segments.append(segment)
        self.player.speaks(segment, speech(ms, 7), last=last)

    @precondition(lambda self: self.old_segments)
    @rule(data=st.data())
    def voice_is_too_late(self, data: st.DataObject) -> None:
        over = [s for s in self.old_segments if s not in self.player.work.segments]
        if over:
            assert self.player.speaks(data.draw(st.sampled_from(over)), speech(100)) == []

    # --- the rest -------------------------------------------------------------------------

    @precondition(lambda self: "idle" in self.player.work.timers)
    @rule()
    def stay_idle(self) -> None:
        self.player.timer("idle")

    @rule(stage=st.sampled_from(["vad", "stt", "llm", "tts"]))
    def lose_stage(self, stage: str) -> None:
        self.player.loses(stage)

    def teardown(self) -> None:
        """Everybody does what is left to do; then nothing may be open."""
        self.do_what_is_left()
        self.player.finish()
        json.dumps(self.player.items())

    def do_what_is_left(self) -> None:
        player = self.player
        player.stops()
        work = player.work
        while work.utterances or work.segments or work.generations:
            if work.utterances:
                player.hears(next(iter(work.utterances)), "Done.")
            elif work.segments:
                player.speaks(work.segments[0], speech(100))
            else:
                player.ends(next(iter(work.generations)))


AnySequence.TestCase.settings = settings(
    max_examples=120,
    stateful_step_count=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestAnySequence = AnySequence.TestCase
