"""What is said instead of what is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.english_wording import is_english
from s2s_actors.protocol.spoken_text import spoken

_PIECES = """
the and Das ist nicht $5 €20 3*4 5 - 2 < > ** * _ __ ` ``` # ## | |---| [a](b) ]( ) ( > 1. 2)
https://x.y/z me@x.org &amp; &#0; &#x110000; <b> </b> <!-- --> 2026-11-29 10-20 555-1234 1/2 x^2
km/h 10km Mr. U.S. No. ~5 C# ... … ! ? 😀 👍🏽 👨‍👩‍👧 🇩🇪 1️⃣ ① © 你好 é \\ \\( III ² ½ — – -
"""  # noqa: RUF001
TOKENS = st.one_of(st.sampled_from([*_PIECES.split(), " ", "\n", "\n\n"]), st.text(max_size=6))
TEXTS = st.lists(TOKENS, max_size=40).map("".join)


@given(TEXTS)
def test_any_text_becomes_one_line_that_is_not_much_longer(text: str) -> None:
    said = spoken(text)
    assert "\n" not in said
    assert said == said.strip()
    assert len(said) <= 14 * len(text) + 20
    assert said == "" or any(char.isalnum() for char in said)


@given(
    st.lists(
        st.sampled_from(["I", "think", "that", "the", "old", "house", "is", "by", "a", "river"]),
        min_size=1,
    )
)
def test_plain_words_are_said_as_they_stand(words: list[str]) -> None:
    assert spoken(" ".join(words)) == " ".join(words)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "**Paris** is *the* capital, __really__ `so`, ~~no~~.",
            "Paris is the capital, really so, no.",
        ),
        ("**Paris is the capital.", "Paris is the capital."),
        ("** More of it** here.", "More of it here."),
        ("# Tea\nIt is hot.", "Tea. It is hot."),
        ("- Eggs\n* Milk\n+ Tea\n• Rice", "Eggs. Milk. Tea. Rice."),
        ("1. **Eggs**: fresh\n2) Milk.", "1, Eggs: fresh. 2, Milk."),
        ("- [ ] Eggs\n- [x] Milk", "Eggs. Milk."),
        ("Roses are red\nViolets are blue.", "Roses are red, Violets are blue."),
        ("| Name | Age |\n|:--|--:|\n| Ann | 5 |", "Name, Age. Ann, 5."),
        ("> It is so.\n> Yes", "It is so. Yes"),
        ("One.\n---\n***\nTwo.", "One. Two."),
        ("See [the page](https://a.org/x_y) or ![a cat](b.png).", "See the page or a cat."),
        ("the page](https://a.org/x) here.", "the page here."),
        ("It prints:\n```python\nprint(1)\n```\nThat is it.", "It prints: That is it."),
        ("<b>Bold</b><br/>&amp; more &lt; 5", "Bold & more is less than 5"),
        ("a<b and c>d", "a is less than b and c is greater than d"),
    ],
)
def test_markup_is_left_out(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Sure! 😊 Let us go 👍🏽.", "Sure! Let us go."),
        ("We 👨‍👩‍👧 like it 🇩🇪 ❤️!", "We like it!"),
        ("1️⃣ Eggs", "1 Eggs"),
        ("नमस्\u200dते", "नमस्\u200dते"),
        ("It is ★ new ✓ ™", "It is new"),
    ],
)
def test_pictographs_are_left_out(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize(
    "text", ["", " \n", "...", "**", "---", "👍", "!", "```\nx = 1\n```", "| |"]
)
def test_nothing_to_say_is_nothing(text: str) -> None:
    assert spoken(text) == ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("3*4 and 3 * 4 and a*b", "3 × 4 and 3 × 4 and a × b"),  # noqa: RUF001
        ("2 < 3 and 5 > 4", "2 is less than 3 and 5 is greater than 4"),
        ("5 - 2 is 3 and x - y is z", "5 − 2 is 3 and x − y is z"),  # noqa: RUF001
        ("It is -5°C or 10 °F.", "It is −5 degrees Celsius or 10 degrees Fahrenheit."),  # noqa: RUF001
        (
            "x^2 and 2**3 and x^n and y²",
            "x squared and 2 cubed and x to the power of n and y squared",
        ),
        ("Let $x = 5$ and $y = 10$.", "Let x = 5 and y = 10."),
        ("I love you <3", "I love you"),
        ("a_b and snake_case", "a b and snake case"),
        ("Take 1/2 cup or 2 1/2 cups.", "Take ½ cup or 2 and ½ cups."),
        ("50% of 5/9, 24/7 on 11/29/2026", "50% of 5/9, 24 7 on 11 29 2026"),
    ],
)
def test_maths_keeps_its_meaning(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("$5, $1, $5.50, $2.5 million", "5 dollars, 1 dollar, 5 dollars 50, 2.5 million dollars"),
        ("€20, £1,200 and ¥30", "20 euros, 1,200 pounds and 30 yen"),
        ("$5-$10", "5 dollars to 10 dollars"),
        ("$1.5k to £2M", "1.5 thousand dollars to 2 million pounds"),
        ("3,000-4,000 people, 8 glasses/day", "3,000 to 4,000 people, 8 glasses per day"),
        ("Born Nov. 5, J.R.R. Tolkien", "Born November 5, J R R Tolkien"),
        ("It was on 2026-11-29.", "It was on November 29, 2026."),
        ("10-20 people in 1990–2000", "10 to 20 people in 1990 to 2000"),  # noqa: RUF001
        ("from 10:30-11:30, it was 3-1", "from 10:30 to 11:30, it was 3 1"),
        ("1,234.56 at 10:30 is 3.14", "1,234.56 at 10:30 is 3.14"),
        ("the 1st of v2.0", "the 1st of v2.0"),
        ("Call 555-1234 or +49 30 1234.", "Call 5 5 5, 1 2 3 4 or +4 9, 3 0, 1 2 3 4."),
        ("World War II and an IV line", "World War 2 and an IV line"),
        ("5 km at 10 km/h on 3 m²", "5 kilometers at 10 kilometers per hour on 3 square meters"),
        ("#1 and No. 5, ~10 of C#", "number 1 and number 5, about 10 of C sharp"),
        ("Mr. Smith vs. Dr. Jones of the U.S. Navy", "Mr Smith versus Dr Jones of the U S Navy"),
        ("Tom/Jerry and/or me at 5 a.m. today", "Tom Jerry and or me at 5 am today"),
        ("Well... let me see — yes -- so", "Well, let me see, yes, so"),
        ("What?! No!!! So…", "What? No! So."),
        (
            "See https://www.example.com/a?b=c, or me@example.com.",
            "See example.com, or me@example.com.",
        ),
    ],
)
def test_what_a_voice_misreads_is_put_into_words(written: str, said: str) -> None:
    assert spoken(written) == said
    assert spoken(said) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Das kostet €20 und ist 3 < 4.", "Das kostet 20 € und ist 3 4."),
        ("Le café est à $5, ~10 km/h.", "Le café est à 5 $, 10 km h."),
        ("你好！价格是 $5。", "你好！价格是 5 $。"),  # noqa: RUF001
        ("Es ist der 2026-11-29.", "Es ist der 2026 11 29."),
        ("El perro y los 5 - 2 gatos", "El perro y los 5 − 2 gatos"),  # noqa: RUF001
    ],
)
def test_other_languages_get_no_english_words(written: str, said: str) -> None:
    assert not is_english(written)
    assert spoken(written) == said


@pytest.mark.parametrize("text", ["3 < 4", "The café costs 5 dollars.", "10 µg", "Don’t do that."])  # noqa: RUF001
def test_english_is_known_by_its_common_words(text: str) -> None:
    assert is_english(text)
