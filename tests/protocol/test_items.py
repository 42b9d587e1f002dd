"""The words of items."""

from __future__ import annotations

import pytest

from s2s_actors.protocol.items import (
    FunctionCall,
    FunctionCallOutput,
    InputAudio,
    InputImage,
    InputText,
    Item,
    Message,
    OutputAudio,
    OutputText,
    text_of,
)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (Message(role="user", content=()), ""),
        (Message(role="user", content=(InputText(text="a"), InputText(text="b"))), "a b"),
        (Message(role="user", content=(InputAudio(transcript="heard"),)), "heard"),
        (Message(role="user", content=(InputAudio(), InputText(text="b"))), "b"),
        (Message(role="user", content=(InputImage(image_url="x"), InputText(text="b"))), "b"),
        (Message(role="assistant", content=(OutputText(text="said"),)), "said"),
        (Message(role="assistant", content=(OutputAudio(transcript="spoken"),)), "spoken"),
        (Message(role="assistant", content=(OutputAudio(),)), ""),
        (FunctionCall(name="f", arguments="{}"), "{}"),
        (FunctionCallOutput(call_id="c", output="done"), "done"),
    ],
)
def test_the_text_of_an_item_is_what_is_known_of_its_words(item: Item, text: str) -> None:
    assert text_of(item) == text
