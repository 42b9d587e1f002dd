"""The codec takes any bytes: it gives an event or says what is wrong, and nothing else."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.fuzz.codec_promises import CORPUS, check_codec
from tests.fuzz.damage import frames
from tests.fuzz.effort import examined

EXAMPLES = 400
SEEDS = tuple(path.read_bytes() for path in sorted(CORPUS.iterdir()))

spliced = st.builds(
    lambda one, other, at, to, piece: one[:at] + piece + other[to:],
    st.sampled_from(SEEDS),
    st.sampled_from(SEEDS),
    st.integers(0, 300),
    st.integers(0, 300),
    st.binary(max_size=8),
)
"""Two events of the corpus, joined anywhere with something in between."""


def test_every_event_of_the_corpus_is_judged() -> None:
    for seed in SEEDS:
        check_codec(seed)


def test_any_bytes_are_judged() -> None:
    text = frames().map(str.encode)
    assert examined(st.binary(max_size=100) | spliced | text, check_codec, examples=EXAMPLES)
