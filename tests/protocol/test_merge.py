"""How updates change a session: only what they name, all of it or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol.merge import apply_update
from s2s_actors.protocol.session import (
    FunctionChoice,
    FunctionTool,
    RealtimeSession,
    RetentionRatio,
    SemanticVad,
    ServerVad,
)
from tests.protocol.playing import Player, error_of, speech, types

SESSION = RealtimeSession(id="sess_1", model="local", instructions="Be kind.", expires_at=1)
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "x": {"y": 1}}}


def updated(*patches: dict[str, Any]) -> RealtimeSession:
    session = SESSION
    for patch in patches:
        session = apply_update(session, {"type": "realtime", **patch})
    return session


def audio_in(**settings: Any) -> dict[str, Any]:
    return {"audio": {"input": settings}}


def audio_out(**settings: Any) -> dict[str, Any]:
    return {"audio": {"output": settings}}


def refused(patch: dict[str, Any], session: RealtimeSession = SESSION) -> ClientError:
    with pytest.raises(ClientError) as caught:
        apply_update(session, {"type": "realtime", **patch})
    return caught.value


# --- what changes -------------------------------------------------------------------------


def test_only_what_is_named_changes() -> None:
    player = Player()
    before = player.events[0]["session"]
    (event,) = player.update(instructions="Be brief.")

    assert event["session"] == before | {"instructions": "Be brief."}


def test_an_empty_update_changes_nothing_and_is_answered() -> None:
    player = Player()

    assert player.update()[0]["session"] == player.events[0]["session"]


def test_each_update_is_answered_once() -> None:
    player = Player()
    for number in range(3):
        assert types(player.update(instructions=str(number))) == ["session.updated"]


def test_objects_merge_at_every_depth() -> None:
    session = updated(
        audio_in(transcription={"model": "whisper-1"}),
        audio_in(transcription={"language": "fr"}),
        audio_in(turn_detection={"threshold": 0.8}),
        audio_out(speed=1.25),
        audio_out(voice="ash"),
    )

    assert session.audio.input.transcription is not None
    assert session.audio.input.transcription.model == "whisper-1"
    assert session.audio.input.transcription.language == "fr"
    assert session.audio.input.turn_detection == ServerVad(threshold=0.8)
    assert (session.audio.output.speed, session.audio.output.voice) == (1.25, "ash")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("audio.input.transcription", {"model": "whisper-1"}),
        ("audio.input.noise_reduction", {"type": "near_field"}),
        ("audio.input.turn_detection", {"type": "server_vad"}),
        ("tracing", "auto"),
        ("prompt", {"id": "pmpt_1"}),
        ("include", ["item.input_audio_transcription.logprobs"]),
        ("include", ["turn.waterfall"]),
    ],
)
def test_null_clears_what_may_be_null(path: str, value: object) -> None:
    def patch(value: object) -> dict[str, Any]:
        nested: Any = value
        for name in reversed(path.split(".")):
            nested = {name: nested}
        result: dict[str, Any] = nested
        return result

    def read(session: Any) -> Any:
        for name in path.split("."):
            session = getattr(session, name)
        return session

    session = updated(patch(value))
    assert read(session) is not None
    assert read(updated(patch(value), patch(None))) is None


def test_empty_values_clear_instructions_and_tools() -> None:
    session = updated({"tools": [TOOL]}, {"tools": [], "instructions": ""})

    assert (session.tools, session.instructions) == ([], "")


def test_transcription_without_a_word_about_it_is_on() -> None:
    assert updated(audio_in(transcription={})).audio.input.transcription is not None


# --- unions -------------------------------------------------------------------------------


def test_another_type_of_detection_replaces_the_old_one() -> None:
    session = updated(
        audio_in(turn_detection={"type": "server_vad", "threshold": 0.8, "create_response": False}),
        audio_in(turn_detection={"type": "semantic_vad", "eagerness": "low"}),
    )
    assert session.audio.input.turn_detection == SemanticVad(eagerness="low")


def test_the_same_type_of_detection_is_tuned() -> None:
    session = updated(
        audio_in(turn_detection={"type": "server_vad", "threshold": 0.8}),
        audio_in(turn_detection={"type": "server_vad", "silence_duration_ms": 200}),
        audio_in(turn_detection={}),
    )
    assert session.audio.input.turn_detection == ServerVad(threshold=0.8, silence_duration_ms=200)


@pytest.mark.parametrize("patch", [{}, {"threshold": 0.8}])
def test_detection_that_is_off_needs_a_type(patch: dict[str, Any]) -> None:
    session = updated(audio_in(turn_detection=None))
    error = refused(audio_in(turn_detection=patch), session)

    assert error.code == "missing_required_parameter"
    assert error.param == "session.audio.input.turn_detection.type"


def test_choice_of_tools_and_truncation_are_replaced_whole() -> None:
    session = updated(
        {"tool_choice": {"type": "function", "name": "a"}},
        {"tool_choice": {"type": "function", "name": "b"}},
        {"truncation": {"type": "retention_ratio", "retention_ratio": 0.5}},
    )
    assert session.tool_choice == FunctionChoice(name="b")
    assert session.truncation == RetentionRatio(retention_ratio=0.5)
    assert updated({"truncation": "disabled"}).truncation == "disabled"


def test_tools_are_replaced_whole_and_may_carry_extra_keys() -> None:
    extra = TOOL | {"strict": True, "needsApproval": False, "$x": [1]}
    session = updated({"tools": [TOOL, TOOL]}, {"tools": [extra]})

    (tool,) = session.tools
    assert isinstance(tool, FunctionTool)
    assert (tool.name, tool.strict) == ("look", True)
    assert tool.parameters == TOOL["parameters"]


def test_a_voice_named_by_an_object_is_shown_as_a_string() -> None:
    assert updated(audio_out(voice={"id": "verse"})).audio.output.voice == "verse"


def test_labels_of_a_trace_are_kept() -> None:
    session = updated({"tracing": {"workflow_name": "w"}}, {"tracing": {"group_id": "g"}})

    assert session.tracing not in (None, "auto")
    assert "workflow_name='w', group_id='g'" in str(session.tracing)


# --- the head -----------------------------------------------------------------------------


def test_the_type_must_be_there() -> None:
    player = Player()
    for session in ({"instructions": "x"}, {"type": None}):
        error = error_of(player.send("session.update", session=session, event_id="e1"))
        assert error["code"] == "missing_required_parameter"
        assert error["param"] == "session.type"
        assert error["message"] == "Missing required parameter: 'session.type'."
        assert error["event_id"] == "e1"
    assert player.talk.instructions == "Be kind."


def test_a_session_keeps_its_type() -> None:
    error = refused({"type": "transcription"})

    assert error.code == "invalid_parameter"
    assert error.message == (
        "Passing a transcription session update event to a realtime session is not allowed."
    )


@pytest.mark.parametrize(("kind", "code"), [("other", "invalid_value"), (5, "invalid_type")])
def test_a_type_that_nobody_knows_is_refused(kind: object, code: str) -> None:
    error = refused({"type": kind})

    assert (error.code, error.param) == (code, "session.type")


@pytest.mark.parametrize("model", ["gpt-realtime-2.1", "", None, 5])
def test_the_model_is_ignored(model: object) -> None:
    assert updated({"model": model}) == SESSION


@pytest.mark.parametrize("name", ["id", "object", "expires_at", "voice", "modalities", "x"])
def test_a_field_that_nobody_may_set_is_named(name: str) -> None:
    error = refused({name: "x"})

    assert (error.code, error.param) == ("unknown_parameter", f"session.{name}")
    assert error.message == f"Unknown parameter: 'session.{name}'."


# --- atomicity ----------------------------------------------------------------------------


BAD = [
    ({"output_modalities": ["text", "audio"]}, "invalid_value", "output_modalities"),
    ({"output_modalities": []}, "invalid_value", "output_modalities"),
    ({"output_modalities": "text"}, "invalid_type", "output_modalities"),
    ({"max_output_tokens": 0}, "invalid_value", "max_output_tokens"),
    ({"max_output_tokens": 4097}, "invalid_value", "max_output_tokens"),
    ({"max_output_tokens": None}, "invalid_type", "max_output_tokens"),
    ({"instructions": None}, "invalid_type", "instructions"),
    ({"tools": None}, "invalid_type", "tools"),
    ({"tools": [{"type": "function", "name": "a b"}]}, "invalid_value", "tools[0].name"),
    ({"tools": [TOOL, {"type": "function"}]}, "missing_required_parameter", "tools[1].name"),
    ({"tools": [{"type": "x", "name": "a"}]}, "invalid_value", "tools[0].type"),
    ({"tool_choice": "never"}, "invalid_value", "tool_choice"),
    ({"tracing": 5}, "invalid_type", "tracing"),
    (
        {"truncation": {"type": "retention_ratio"}},
        "missing_required_parameter",
        "truncation.retention_ratio",
    ),
    ({"audio": None}, "invalid_type", "audio"),
    ({"audio": {"input": None}}, "invalid_type", "audio.input"),
    ({"audio": {"middle": {}}}, "unknown_parameter", "audio.middle"),
    (audio_out(speed=2.0), "invalid_value", "audio.output.speed"),
    (audio_out(speed=0.1), "invalid_value", "audio.output.speed"),
    (audio_out(voice=None), "invalid_type", "audio.output.voice"),
    (audio_out(format={"type": "audio/opus"}), "invalid_value", "audio.output.format.type"),
    (audio_out(format="pcm16"), "invalid_type", "audio.output.format"),
    (audio_in(format={"rate": 8000}), "invalid_value", "audio.input.format.rate"),
    (audio_in(transcription={"model": None}), "invalid_type", "audio.input.transcription.model"),
    (audio_in(transcription={"x": 1}), "unknown_parameter", "audio.input.transcription.x"),
    (audio_in(noise_reduction={"type": "x"}), "invalid_value", "audio.input.noise_reduction.type"),
    (
        audio_in(turn_detection={"threshold": 1.5}),
        "invalid_value",
        "audio.input.turn_detection.threshold",
    ),
    (
        audio_in(turn_detection={"idle_timeout_ms": 1000}),
        "invalid_value",
        "audio.input.turn_detection.idle_timeout_ms",
    ),
    (
        audio_in(turn_detection={"create_response": None}),
        "invalid_type",
        "audio.input.turn_detection.create_response",
    ),
    (
        audio_in(turn_detection={"type": "semantic_vad", "threshold": 0.5}),
        "unknown_parameter",
        "audio.input.turn_detection.threshold",
    ),
    (audio_in(turn_detection={"type": "none"}), "invalid_value", "audio.input.turn_detection.type"),
    (audio_in(turn_detection={"type": None}), "invalid_type", "audio.input.turn_detection.type"),
    (audio_in(turn_detection=True), "invalid_type", "audio.input.turn_detection"),
]


@pytest.mark.parametrize(("patch", "code", "param"), BAD)
def test_a_bad_update_is_named_and_nothing_of_it_is_applied(
    patch: dict[str, Any], code: str, param: str
) -> None:
    player = Player()
    before = player.dialogue.session
    session = {"type": "realtime", "instructions": "Changed!", **patch}
    if "instructions" in patch:
        session = {"type": "realtime", "tool_choice": "none", **patch}
    error = error_of(player.send("session.update", session=session, event_id="e1"))

    assert (error["code"], error["param"]) == (code, f"session.{param}")
    assert error["event_id"] == "e1"
    assert player.dialogue.session == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=5,
)
NAMES = st.sampled_from([*RealtimeSession.__struct_fields__, "input", "output", "x"])


@given(st.dictionaries(NAMES, JSON | st.dictionaries(NAMES, JSON, max_size=2), max_size=3))
def test_any_update_is_applied_or_refused_by_name(patch: dict[str, Any]) -> None:
    patch["type"] = "realtime"
    session, param = SESSION, "session"
    try:
        session = apply_update(SESSION, patch)
    except ClientError as error:
        param = error.param or ""

    assert param.startswith("session")
    assert (session.id, session.model) == (SESSION.id, SESSION.model)
    assert apply_update(session, {"type": "realtime"}) == session


# --- the voice ----------------------------------------------------------------------------


def test_the_voice_is_fixed_once_it_has_been_heard() -> None:
    player = Player()
    assert types(player.update(**audio_out(voice="ash"))) == ["session.updated"]
    response_id = player.respond()
    player.writes(response_id, "Hi there.")
    assert types(player.update(**audio_out(voice="verse"))) == ["session.updated"]
    player.ends(response_id)
    player.speaks(player.work.segments[0], speech(100), last=False)

    error = error_of(player.update(instructions="x", **audio_out(voice="coral")))
    assert error["code"] == "cannot_update_voice"
    assert error["message"] == (
        "Cannot update a conversation's voice if assistant audio is present."
    )
    assert player.talk.instructions == "Be kind."
    for same in ("verse", {"id": "verse"}):
        assert types(player.update(**audio_out(voice=same))) == ["session.updated"]


def test_a_voice_heard_beside_the_conversation_does_not_fix_it() -> None:
    player = Player()
    player.answers(player.respond(conversation="none"), "Hi there.")

    assert types(player.update(**audio_out(voice="coral"))) == ["session.updated"]
