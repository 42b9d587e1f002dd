"""The models of a simulation: scripted ones, whose time is that of the simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from s2s_actors.backends.abilities import context_tokens_of
from s2s_actors.backends.base import Models
from s2s_actors.backends.script import LlmAnswer, LlmScript, Script, SttAnswer, SttScript, TtsScript
from s2s_actors.backends.scripted import ScriptedLlm, ScriptedTts, ScriptedTurn, ScriptedVad
from s2s_actors.protocol.conduct import NATURAL, Conduct
from s2s_actors.simulation.speech import SpokenStt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from s2s_actors.backends.base import Call, LanguageModel, ModelInfo
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.backends.scripted_base import Waits
    from s2s_actors.simulation.speech import SpokenWords

__all__ = ["USUAL_SCRIPT", "Agent", "AskedLlm", "Question"]

USUAL_SCRIPT = Script(
    stt=SttScript(answers=(SttAnswer(text="utterance {n}", delay_ms=80),)),
    llm=LlmScript(answers=(LlmAnswer(text="You said: {user}", first_token_ms=60, token_ms=8),)),
    tts=TtsScript(first_chunk_ms=40, chunk_delay_ms=5),
)
"""Echoes, at the pace of small models on a laptop."""


@dataclass(frozen=True, slots=True)
class Agent:
    """What is put to the test.

    Attributes:
        instructions: What sessions begin with.
        script: What the models say, as :mod:`s2s_actors.backends.script` has it, or a table of
            that shape.
        llm: A language model in the script's place; its calls take no time.
        conduct: What sessions do beyond the plain protocol.
    """

    instructions: str = "Be brief."
    script: Script | Mapping[str, Any] = USUAL_SCRIPT
    llm: LanguageModel | None = None
    conduct: Conduct = NATURAL

    @property
    def context_tokens(self) -> int | None:
        """How much the language model can take; None if nobody says."""
        return self._script.llm.context_tokens if self.llm is None else context_tokens_of(self.llm)

    @property
    def _script(self) -> Script:
        given = self.script
        return given if isinstance(given, Script) else msgspec.convert(given, Script)

    def models(self, waits: Waits, spoken: SpokenWords, asked: list[Question]) -> Models:
        """The models that play it.

        Args:
            waits: How their time passes.
            spoken: What callers say in words.
            asked: Takes what the language model is asked.

        Raises:
            msgspec.ValidationError: The script is none; the message names the key.
        """
        script, source = self._script, "simulation"
        llm = self.llm or ScriptedLlm(script, source, waits)
        return Models(
            vad=ScriptedVad(script, source, waits),
            stt=SpokenStt(script, waits, spoken),
            llm=AskedLlm(llm, asked),
            tts=ScriptedTts(script, source, waits),
            turn=ScriptedTurn(script, source, waits),
        )


@dataclass(frozen=True, slots=True)
class Question:
    """What the language model was asked, for whom."""

    session_id: str
    request: LlmRequest = field(repr=False)


class AskedLlm:
    """A language model whose questions are kept."""

    def __init__(self, llm: LanguageModel, asked: list[Question]) -> None:
        self._llm = llm
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        # What else it is able to do is found by its attributes.
        return getattr(self._llm, name)

    @property
    def info(self) -> ModelInfo:
        """What is asked."""
        return self._llm.info

    def warm_up(self) -> None:
        """Leave that to the model."""
        self._llm.warm_up()

    def close(self) -> None:
        """Leave that to the model."""
        self._llm.close()

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Keep the question, and let the model answer."""
        self._asked.append(Question(call.session_id, request))
        return self._llm.generate(request, call)
