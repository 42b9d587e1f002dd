"""Any sequence keeps the protocol where a session does all that goes beyond it, too."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from s2s_actors.protocol.waterfall import WATERFALL
from tests.protocol.playing import NATURAL_START, Player, speech
from tests.protocol.test_any_sequence import AnySequence

WORDS_HEARD = st.sampled_from(["", "Yeah.", "mm", "Hello there.", "Hello there. Was it you?"])


class AnyNaturalSequence(AnySequence):
    """Plays drafts, weighed speech, resumed answers and the playback clock in any order.

    The player checks on its way that no draft is seen, and that audio is not sent too far
    ahead.
    """

    def __init__(self) -> None:
        super().__init__()
        self.player = Player(NATURAL_START)

    @initialize()
    def wants_waterfalls(self) -> None:
        self.player.update(include=[WATERFALL])

    # --- voice detection ------------------------------------------------------------------

    @rule(for_ms=st.sampled_from([128, 256, 384, 640, 2000, 25_000]))
    def speech_lasts(self, for_ms: int) -> None:
        self.player.append(speech(min(for_ms, 3000)))
        self.player.lasts(for_ms)

    @rule(silence_ms=st.sampled_from([96, 96, 500]))
    def speech_pauses(self, silence_ms: int) -> None:
        self.player.append(speech(silence_ms))
        self.player.pauses(silence_ms)

    @rule(back_ms=st.sampled_from([0, 64]))
    def speech_goes_on(self, back_ms: int) -> None:
        self.player.resumes(max(0, self.player.now_ms - back_ms))

    @rule(completeness=st.sampled_from([0.0, 0.5, 1.0]))
    def speech_is_weighed(self, completeness: float) -> None:
        self.player.sounds(completeness)

    @rule(for_ms=st.sampled_from([128, 256, 1000, 4000]))
    def silence_lasts(self, for_ms: int) -> None:
        self.player.keeps_quiet(for_ms)

    @rule()
    def voice_detection_has_heard_an_echo(self) -> None:
        self.player.dismisses()

    @rule(busy=st.booleans())
    def other_work_comes_and_goes(self, busy: bool) -> None:
        self.player.is_busy(busy)

    # --- what leads deeper than single steps do ---------------------------------------------

    def calm_down(self) -> None:
        """Nobody speaks any more, and detection answers."""
        self.player.stops()
        self.hear_all("Hello there.")
        self.player.send("response.cancel")
        self.player.waits(60_000)
        self.say(
            "session.update",
            session={
                "type": "realtime",
                "audio": {"input": {"turn_detection": {"type": "server_vad"}}},
            },
        )

    @rule(
        text=WORDS_HEARD,
        length_ms=st.sampled_from([300, 7000]),
        begins=st.booleans(),
        calmly=st.booleans(),
    )
    def pause_and_let_answer_ahead(
        self, text: str, length_ms: int, begins: bool, calmly: bool
    ) -> None:
        player = self.player
        if calmly:
            self.calm_down()
        player.starts()
        player.append(speech(length_ms))
        player.lasts(length_ms)
        player.pauses()
        self.hear_all(text)
        if begins:
            for work_id in list(player.work.generations)[-1:]:
                player.writes(work_id, "This is a sentence. And this is")

    @rule()
    def answer_at_length(self) -> None:
        self.calm_down()
        self.ask_and_begin_to_answer("Hello.", beside=False)
        for segment in self.player.work.segments[-1:]:
            self.player.speaks(segment, speech(9000, 3), last=False)

    @rule()
    def mute_in_the_middle(self) -> None:
        self.player.starts()
        self.player.append(speech(300))
        self.player.waits(1500)
        if "mute" in self.player.work.timers:
            self.player.timer("mute")

    @rule(burst=WORDS_HEARD)
    def speak_over_what_is_being_said(self, burst: str) -> None:
        player = self.player
        self.ask_and_begin_to_answer("Hello.", beside=False)
        player.starts()
        player.append(speech(300))
        self.hear_all(burst)
        player.pauses()
        player.stops()
        self.hear_all(burst)

    def hear_all(self, text: str) -> None:
        for voice_id in list(self.player.work.utterances):
            if voice_id in self.player.work.utterances:
                self.old_utterances.append(voice_id)
                self.player.hears(voice_id, text)

    # --- what comes too late ----------------------------------------------------------------

    @rule(data=st.data(), what=st.sampled_from(["text", "call", "end", "fail"]))
    def model_is_too_late(self, data: st.DataObject, what: str) -> None:
        over = [i for i in self.old_responses if not self.player.is_at_work(i)]
        work_id = data.draw(st.sampled_from(over))
        late = {
            "text": lambda: self.player.writes(work_id, "Late."),
            "call": lambda: self.player.calls(work_id, "call_9", "late", "{}"),
            "end": lambda: self.player.ends(work_id),
            "fail": lambda: self.player.fails(work_id),
        }
        assert late[what]() == []

    @precondition(lambda self: self.old_segments)
    @rule(data=st.data())
    def voice_is_too_late(self, data: st.DataObject) -> None:
        over = [s for s in self.old_segments if not self.player.is_at_work(s.response_id)]
        if over:
            assert self.player.speaks(data.draw(st.sampled_from(over)), speech(100)) == []

    # --- time -----------------------------------------------------------------------------

    @rule(ms=st.sampled_from([20, 300, 2000, 10_000]))
    def wait(self, ms: int) -> None:
        self.player.waits(ms)

    @precondition(lambda self: self.player.work.timers.keys() & {"mute", "playout"})
    @rule(data=st.data())
    def timer_comes(self, data: st.DataObject) -> None:
        timers = sorted(self.player.work.timers.keys() & {"mute", "playout"})
        self.player.timer(data.draw(st.sampled_from(timers)))

    @invariant()
    def every_turn_is_measured_at_most_once(self) -> None:
        told = [event for event in self.player.events if event["type"] == WATERFALL]
        assert len({event["item_id"] for event in told}) == len(told)
        assert all(
            event["total_ms"] == sum(step["ms"] for step in event["steps"]) for event in told
        )

    def do_what_is_left(self) -> None:
        player = self.player
        player.stops()
        work = player.work
        while work.utterances or work.segments or work.generations or "playout" in work.timers:
            if work.utterances:
                player.hears(next(iter(work.utterances)), "Done.")
            elif work.segments:
                player.speaks(work.segments[0], speech(100))
            elif work.generations:
                player.ends(next(iter(work.generations)))
            else:
                player.waits(work.timers["playout"])
                player.timer("playout")


AnyNaturalSequence.TestCase.settings = settings(
    max_examples=80,
    stateful_step_count=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestAnyNaturalSequence = AnyNaturalSequence.TestCase
