"""Calls are found in a stream of text however it is cut."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.backends.tool_call_parser import (
    ParsedCall,
    ParsedText,
    ToolCallParser,
    written_call,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("</tool_call>"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    lambda name, arguments: ParsedCall(name, json.dumps(arguments, ensure_ascii=False)),
    st.text(min_size=1),
    st.dictionaries(st.text(), json_values, max_size=3),
)
texts = st.text(alphabet="<tool_cal>/ x", min_size=1).map(ParsedText)
fragments = st.sampled_from(
    ["<tool_call>", "</tool_call>", "<tool_", '{"name": "f"}', '{"name": "f', '"', "\\", "hi", "}"]
)


def _parse(pieces: list[str]) -> list[ParsedText | ParsedCall]:
    """All that comes out, with neighbouring texts joined."""
    parser = ToolCallParser()
    joined: list[ParsedText | ParsedCall] = []
    events = [event for piece in pieces for event in parser.feed(piece)]
    for event in [*events, *parser.finish()]:
        if isinstance(event, ParsedText) and joined and isinstance(joined[-1], ParsedText):
            joined[-1] = ParsedText(joined[-1].text + event.text)
        else:
            joined.append(event)
    return joined


def _cut(text: str, places: list[int]) -> list[str]:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:stop] for start, stop in itertools.pairwise(bounds)]


@given(st.lists(fragments).map("".join), st.lists(st.integers(min_value=0)))
def test_any_cutting_gives_the_same(text: str, places: list[int]) -> None:
    assert _parse(_cut(text, places)) == _parse([text])


@given(st.lists(calls, max_size=3), st.lists(st.integers(min_value=0), max_size=9))
def test_written_calls_come_back(written: list[ParsedCall], places: list[int]) -> None:
    text = "".join(written_call(call.name, call.arguments) for call in written)
    assert _parse(_cut(text, places)) == written


@given(texts, calls)
def test_text_around_a_call_is_kept(text: ParsedText, call: ParsedCall) -> None:
    if "<tool_call>" in text.text:
        return
    # Text that ends in half a mark would run into the call's own.
    said = f"{text.text}."
    assert _parse([said + written_call(call.name, call.arguments)]) == [ParsedText(said), call]


def test_text_without_a_mark_is_let_through_at_once() -> None:
    parser = ToolCallParser()
    assert list(parser.feed("Hello")) == [ParsedText("Hello")]
    assert list(parser.feed(" a <")) == [ParsedText(" a ")]
    assert list(parser.feed("b")) == [ParsedText("<b")]


def test_a_forgotten_closing_mark_is_forgiven() -> None:
    assert _parse(['<tool_call>{"name": "f", "arguments": {}}']) == [ParsedCall("f", "{}")]


def test_broken_json_is_not_spoken() -> None:
    assert _parse(["a<tool_call>{oops}</tool_call>b"]) == [ParsedText("ab")]
