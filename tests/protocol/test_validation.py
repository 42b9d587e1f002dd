"""Every form of msgspec's verdict becomes code, path and message."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct, field

from s2s_actors.errors import ClientError
from s2s_actors.protocol.validation import convert


class _Inner(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=3)] = ""
    number: Annotated[int, Meta(ge=1, le=5)] = 1
    share: Annotated[float, Meta(le=1)] = 0.5
    word: Annotated[str, Meta(min_length=1, pattern="^[a-z]+$")] = "a"
    choice: Literal["a", "b"] = "a"
    pair: Annotated[list[int], Meta(min_length=1, max_length=2)] = field(
        default_factory=lambda: [1]
    )
    table: dict[str, int] = {}
    either: int | str | None = None


class _Cat(Struct, tag_field="type", tag="cat", forbid_unknown_fields=True):
    name: str


class _Dog(Struct, tag_field="type", tag="dog", forbid_unknown_fields=True):
    name: str


class _Outer(Struct, forbid_unknown_fields=True):
    must: str
    inner: _Inner = _Inner()
    animals: list[_Cat | _Dog] = []


@pytest.mark.parametrize(
    ("value", "code", "param", "message"),
    [
        ({}, "missing_required_parameter", "must", "Missing required parameter: 'must'."),
        ({"x": 1, "must": ""}, "unknown_parameter", "x", "Unknown parameter: 'x'."),
        ({"a`b": 1, "must": ""}, "unknown_parameter", "a`b", "Unknown parameter: 'a`b'."),
        ({"must": 5}, "invalid_type", "must", "Invalid type for 'must': expected str, got int."),
        (
            {"must": None},
            "invalid_type",
            "must",
            "Invalid type for 'must': expected str, got null.",
        ),
        (5, "invalid_type", "", "Invalid type for '': expected object, got int."),
        (
            {"must": "", "inner": {"text": "abcd"}},
            "string_above_max_length",
            "inner.text",
            "Invalid 'inner.text': string too long. Expected at most 3 characters.",
        ),
        (
            {"must": "", "inner": {"number": 0}},
            "invalid_value",
            "inner.number",
            "Invalid value for 'inner.number': Expected `int` >= 1.",
        ),
        (
            {"must": "", "inner": {"share": 1.5}},
            "invalid_value",
            "inner.share",
            "Invalid value for 'inner.share': Expected `float` <= 1.0.",
        ),
        (
            {"must": "", "inner": {"word": ""}},
            "invalid_value",
            "inner.word",
            "Invalid value for 'inner.word': Expected `str` of length >= 1.",
        ),
        (
            {"must": "", "inner": {"word": "A"}},
            "invalid_value",
            "inner.word",
            "Invalid value for 'inner.word': Expected `str` matching regex '^[a-z]+$'.",
        ),
        (
            {"must": "", "inner": {"choice": "c"}},
            "invalid_value",
            "inner.choice",
            "Invalid value for 'inner.choice': Invalid enum value 'c'.",
        ),
        (
            {"must": "", "inner": {"pair": []}},
            "invalid_value",
            "inner.pair",
            "Invalid value for 'inner.pair': Expected `array` of length >= 1.",
        ),
        (
            {"must": "", "inner": {"pair": [1, 2, 3]}},
            "invalid_value",
            "inner.pair",
            "Invalid value for 'inner.pair': Expected `array` of length <= 2.",
        ),
        (
            {"must": "", "inner": {"pair": [1, "x"]}},
            "invalid_type",
            "inner.pair[1]",
            "Invalid type for 'inner.pair[1]': expected int, got str.",
        ),
        (
            {"must": "", "inner": {"table": {"k": "v"}}},
            "invalid_type",
            "inner.table[...]",
            "Invalid type for 'inner.table[...]': expected int, got str.",
        ),
        (
            {"must": "", "inner": {"either": []}},
            "invalid_type",
            "inner.either",
            "Invalid type for 'inner.either': expected int | str | null, got array.",
        ),
        (
            {"must": "", "inner": {"y": 1}},
            "unknown_parameter",
            "inner.y",
            "Unknown parameter: 'inner.y'.",
        ),
        (
            {"must": "", "animals": [{"name": "x"}]},
            "missing_required_parameter",
            "animals[0].type",
            "Missing required parameter: 'animals[0].type'.",
        ),
        (
            {"must": "", "animals": [{"type": "cat", "name": "x"}, {"type": "cow"}]},
            "invalid_value",
            "animals[1].type",
            "Invalid value for 'animals[1].type': Invalid value 'cow'.",
        ),
        (
            {"must": "", "animals": [{"type": "cat"}]},
            "missing_required_parameter",
            "animals[0].name",
            "Missing required parameter: 'animals[0].name'.",
        ),
    ],
)
def test_each_form_of_verdict_is_translated(
    value: Any, code: str, param: str, message: str
) -> None:
    with pytest.raises(ClientError) as caught:
        convert(value, _Outer)

    error = caught.value
    assert (error.code, error.param, error.message) == (code, param, message)


@pytest.mark.parametrize(
    ("value", "param"),
    [
        ({}, "session.must"),
        (5, "session"),
        ({"must": "", "x": 1}, "session.x"),
        ({"must": "", "animals": [{}]}, "session.animals[0].type"),
        ({"must": "", "inner": {"number": 9}}, "session.inner.number"),
    ],
)
def test_the_root_stands_before_every_path(value: Any, param: str) -> None:
    with pytest.raises(ClientError) as caught:
        convert(value, _Outer, root="session")

    assert caught.value.param == param


def test_a_root_that_is_a_list_is_joined_without_a_dot() -> None:
    with pytest.raises(ClientError) as caught:
        convert([1, "x"], list[int], root="tools")

    assert caught.value.param == "tools[1]"


def test_a_name_of_any_length_is_told_shortly() -> None:
    with pytest.raises(ClientError) as caught:
        convert({"must": "", "x" * 100_000: 1}, _Outer)

    assert caught.value.code == "unknown_parameter"
    assert len(caught.value.message) < 1000
    assert caught.value.param is not None
    assert len(caught.value.param) < 500


def test_a_value_that_fits_comes_through() -> None:
    outer: _Outer = convert({"must": "x", "animals": [{"type": "dog", "name": "y"}]}, _Outer)

    assert outer.animals == [_Dog("y")]


def test_whole_numbers_pass_as_floats_but_not_the_other_way_round() -> None:
    outer: _Outer = convert({"must": "", "inner": {"share": 1}}, _Outer)
    assert outer.inner.share == 1.0

    with pytest.raises(ClientError, match="expected int, got float"):
        convert({"must": "", "inner": {"number": 1.5}}, _Outer)
