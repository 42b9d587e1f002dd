"""The scripted backends play what their script says."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import soxr

from s2s_actors.backends.base import BackendOptions, Call, SttRequest, TtsRequest
from s2s_actors.backends.chat import (
    ChatMessage,
    Finished,
    LlmEvent,
    LlmRequest,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from s2s_actors.backends.scripted import (
    ScriptedLlm,
    ScriptedStt,
    ScriptedTts,
    ScriptedVad,
    tone_hz,
)
from s2s_actors.errors import SetupError, StageError
from s2s_actors.runtime.cancel import CancelToken
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HANG_S = 20.0


def _call(session_id: str = "s") -> Call:
    return Call(session_id, CancelToken())


def _directed(script: object, *texts: str) -> LlmRequest:
    system = ChatMessage("system", f"Be kind.\n#script {json.dumps(script)}\nBe brief.")
    return LlmRequest((system, *(ChatMessage("user", text) for text in texts or ("hi",))))


def _text(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _say(request: LlmRequest, llm: ScriptedLlm | None = None) -> str:
    return _text(list((llm or ScriptedLlm()).generate(request, _call())))


def _cancel_soon(run: Callable[[Call], object]) -> None:
    """Run in a thread, cancel once it waits; fail when it does not end."""
    call = _call()
    waiting, ended = threading.Event(), threading.Event()
    real = call.cancel.on_cancel

    def on_cancel(callback: Callable[[], None]) -> Callable[[], None]:
        waiting.set()
        return real(callback)

    call.cancel.on_cancel = on_cancel  # type: ignore[method-assign]

    def target() -> None:
        run(call)
        ended.set()

    thread = threading.Thread(target=target)
    thread.start()
    assert waiting.wait(HANG_S)
    call.cancel.cancel()
    assert ended.wait(HANG_S)
    thread.join()


def test_without_a_script_the_answer_repeats_the_question() -> None:
    request = LlmRequest((ChatMessage("user", "good morning"),))
    events = list(ScriptedLlm().generate(request, _call()))
    assert _text(events) == "You said: good morning."
    assert events[-1] == Finished("stop", 2, 4)


def test_the_sessions_own_script_goes_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text('[llm]\nanswers = ["from the file"]\n')
    llm = ScriptedLlm.load(BackendOptions(script=str(path)), print)
    assert _say(LlmRequest((ChatMessage("user", "x"),)), llm) == "from the file"
    assert _say(_directed({"answers": ["from the session"]}), llm) == "from the session"


def test_answers_are_taken_in_turn() -> None:
    script = {"answers": ["one", "two {n} {user}"]}
    assert _say(_directed(script, "a")) == "one"
    assert _say(_directed(script, "a", "b")) == "two 2 b"
    assert _say(_directed(script, "a", "b", "c")) == "one"


def test_the_first_rule_that_matches_is_used_and_counts_its_own_turns() -> None:
    script = {"answers": ["other"], "rules": [{"match": "(?i)paris", "answers": ["1st", "2nd"]}]}
    assert _say(_directed(script, "in Paris?")) == "1st"
    assert _say(_directed(script, "in Paris?", "in Rome?", "paris?")) == "2nd"
    assert _say(_directed(script, "in Paris?", "in Rome?")) == "other"


def test_the_output_of_a_tool_opens_a_new_turn() -> None:
    script = {"answers": [{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}, "so {tool}"]}
    asked = _directed(script, "go")
    events = list(ScriptedLlm().generate(asked, _call()))
    started = [event for event in events if isinstance(event, ToolCallStarted)]
    assert [event.name for event in started] == ["f"]
    pieces = [event.arguments for event in events if isinstance(event, ToolCallDelta)]
    assert json.loads("".join(pieces)) == {"a": 1}
    answered = LlmRequest(
        (*asked.messages, ChatMessage("assistant", ""), ChatMessage("tool", "42", call_id="c"))
    )
    assert _say(answered) == "so 42"


def test_the_token_limit_cuts_the_answer() -> None:
    request = _directed({"answers": ["one two three"]})
    limited = LlmRequest(request.messages, max_output_tokens=2)
    events = list(ScriptedLlm().generate(limited, _call()))
    assert _text(events) == "one two"
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "length"


def test_an_error_comes_after_the_words_before_it() -> None:
    answer = {"text": "one two three", "after": 2, "error": "gone", "message": "It broke."}
    events = ScriptedLlm().generate(_directed({"answers": [answer]}), _call())
    assert [next(events), next(events)] == [TextDelta("one"), TextDelta(" two")]
    with pytest.raises(StageError, match="It broke") as caught:
        next(events)
    assert caught.value.code == "gone"


def test_a_crash_looks_like_a_bug() -> None:
    request = _directed({"answers": [{"crash": "boom"}]})
    with pytest.raises(RuntimeError, match="boom"):
        list(ScriptedLlm().generate(request, _call()))


@pytest.mark.parametrize(
    "answer",
    [
        {"text": "x", "stall": True},
        {"text": "x", "first_token_ms": 1e6},
        {"text": "x y", "token_ms": 1e6},
    ],
)
def test_every_wait_of_the_llm_ends_when_cancelled(answer: dict[str, object]) -> None:
    request = _directed({"answers": [answer]})
    _cancel_soon(lambda call: list(ScriptedLlm().generate(request, call)))


def test_a_wedge_ignores_the_cancel_token() -> None:
    call = _call()
    call.cancel.cancel()
    request = SttRequest(b"", prompt='#script {"answers": [{"wedge_s": 0.05, "text": "x"}]}')
    assert ScriptedStt().transcribe(request, call).text == ""


def test_utterances_are_counted_by_session() -> None:
    stt = ScriptedStt()
    heard = [
        stt.transcribe(SttRequest(pcm), _call(session)).text
        for session, pcm in [("a", b"12"), ("a", b"34"), ("b", b"12"), ("a", b"12")]
    ]
    numbers = (1, 2, 1, 3)
    assert heard == [f"scripted utterance {number}" for number in numbers]


def test_an_utterance_that_goes_on_is_the_same_utterance() -> None:
    stt = ScriptedStt()
    speech = bytes(range(256)) * 100
    parts = (speech[:8000], speech[:16_000], speech)
    texts = {stt.transcribe(SttRequest(pcm), _call()).text for pcm in parts}
    assert texts == {"scripted utterance 1"}


@pytest.mark.parametrize("cut_ms", [500, 800, 801, 900, 1000])
def test_an_utterance_that_was_cut_within_a_word_is_still_the_same(cut_ms: int) -> None:
    stt = ScriptedStt()
    speech = np.frombuffer(silence(300) + tone(800) + silence(400), "<i2")
    cut, whole = (soxr.resample(part, 24_000, 16_000) for part in (speech[: 24 * cut_ms], speech))
    texts = {stt.transcribe(SttRequest(pcm.tobytes()), _call()).text for pcm in (cut, whole)}
    assert texts == {"scripted utterance 1"}


def test_the_first_moment_of_an_utterance_is_not_one_by_itself() -> None:
    stt = ScriptedStt()
    requests = [(b"12", True), (b"1", False), (b"34", True), (b"4", True), (b"345", False)]
    heard = [
        stt.transcribe(SttRequest(pcm, beginning=beginning), _call()).text
        for pcm, beginning in requests
    ]
    assert heard == [f"scripted utterance {number}" for number in (1, 1, 2, 2, 2)]


def test_the_prompt_directs_the_stt() -> None:
    request = SttRequest(b"12", prompt='#script {"answers": ["hello"]}')
    assert ScriptedStt().transcribe(request, _call()).text == "hello"


def test_a_waiting_stt_ends_when_cancelled() -> None:
    request = SttRequest(b"", prompt='#script {"answers": [{"stall": true}]}')
    _cancel_soon(lambda call: ScriptedStt().transcribe(request, call))


def _pitch_hz(pcm: bytes, rate_hz: int) -> float:
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum) * rate_hz / samples.size)


def test_each_session_has_its_own_pitch() -> None:
    tts = ScriptedTts()
    request = TtsRequest("twenty-five characters ok")
    for session in ("a", "b"):
        pcm = b"".join(tts.synthesize(request, _call(session)))
        assert len(pcm) == 2 * 24_000
        assert _pitch_hz(pcm, tts.sample_rate_hz) == pytest.approx(tone_hz(session), abs=2)


def test_a_voice_asks_for_a_pitch_and_speed_shortens_the_tone() -> None:
    tts = ScriptedTts()
    request = TtsRequest("twenty-five characters ok", voice="tone-440", speed=0.5)
    pcm = b"".join(tts.synthesize(request, _call()))
    assert len(pcm) == 2 * 48_000
    assert _pitch_hz(pcm, tts.sample_rate_hz) == pytest.approx(440, abs=2)


def test_rules_of_the_tts_fail_the_text_they_match(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    rules = [{"match": "boom", "after": 1, "error": "e"}, {"match": "hush", "stall": True}]
    path.write_text(json.dumps({"tts": {"rules": rules, "chunk_ms": 10}}))
    tts = ScriptedTts.load(BackendOptions(script=str(path)), print)
    audio = tts.synthesize(TtsRequest("boom"), _call())
    assert next(audio)
    with pytest.raises(StageError):
        next(audio)
    _cancel_soon(lambda call: list(tts.synthesize(TtsRequest("hush"), call)))


def test_loud_frames_are_speech_and_silent_ones_are_not() -> None:
    stream = ScriptedVad().open_stream("s")
    assert stream.probability(np.zeros(512, dtype=np.float32)) == 0.0
    assert stream.probability(np.full(512, 0.1, dtype=np.float32)) > 0.9


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.toml", "[llm]\nanswer = 1", "answer"),
        ("a.json", '{"stt": {"answers": []}}', r"\$\.stt\.answers"),
        ("a.toml", '[[llm.rules]]\nmatch = "("\nanswers = ["x"]', "regular expression"),
        ("a.toml", "not toml", "a.toml"),
    ],
)
def test_a_wrong_script_is_refused_and_its_key_named(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SetupError, match=complaint):
        ScriptedLlm.load(BackendOptions(script=str(path)), print)


def test_a_missing_script_is_named() -> None:
    with pytest.raises(SetupError, match="/no/such/file"):
        ScriptedLlm.load(BackendOptions(script="/no/such/file"), print)


def test_a_wrong_script_of_a_session_fails_its_response() -> None:
    with pytest.raises(StageError, match="texd"):
        _say(_directed({"answers": [{"texd": 1}]}))


def test_the_stt_makes_up_probabilities_that_are_always_the_same() -> None:
    request = SttRequest(
        bytes(640), prompt='#script {"answers": [" how are  you "]}', logprobs=True
    )
    first, second = (ScriptedStt().transcribe(request, _call()).tokens for _ in range(2))
    assert first == second
    assert [token.text for token in first] == ["how", " are", "  you"]
    assert all(-1 <= token.logprob < 0 for token in first)
    assert ScriptedStt().transcribe(replace(request, logprobs=False), _call()).tokens == ()
