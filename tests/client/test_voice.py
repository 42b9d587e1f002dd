"""The local voice asks questions."""

from __future__ import annotations

import pytest

from s2s_actors.client.speech import speech_regions_ms
from s2s_actors.client.voice import spoken
from s2s_actors.errors import SetupError


@pytest.mark.models
def test_a_text_becomes_speech_after_a_moment_of_silence() -> None:
    pytest.importorskip("piper")
    regions = speech_regions_ms(spoken("What is the capital of France?"))
    assert regions[0][0] >= 300
    assert 1000 < regions[-1][1] - regions[0][0] < 4000


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_blank_text_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="nothing to say"):
        spoken(text)
