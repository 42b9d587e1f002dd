"""The script that the scripted backends play: its format, and how it is read.

A script is a TOML or JSON file (``--script FILE``) with a table for each stage. Every key
is optional, unknown keys are refused. All of it, with the built-in values:

.. code-block:: toml

    [stt]
    answers = ["scripted utterance {n}"]  # taken in turn by the utterances of a session

    [llm]
    answers = ["You said: {user}."]       # taken in turn by the turns of a chat
    context_tokens = 2048                 # what the model can take; no limit unless set

    [[llm.rules]]                         # the first rule that matches is used instead
    match = "(?i)capital of france"       # regular expression, searched in the last user text
    answers = ["Paris.", "Still Paris."]  # taken in turn by the turns that match

    [tts]
    ms_per_char = 40.0                    # length of the tone for each character
    chunk_ms = 100                        # length of each piece of audio
    first_chunk_ms = 0                    # time before the first piece
    chunk_delay_ms = 0                    # time before each later piece
    rules = []                            # {match, ...faults}: searched in the text to speak

    [turn]
    answers = [1.0]                       # how finished an utterance sounds (0 to 1); taken in
                                          # turn by its pauses of 100 ms or more

(There is no rule in the built-in script.) An answer is a text, or a table:

========================  =======================================================================
key                       meaning
========================  =======================================================================
``text``                  what is heard or said; ``{n}`` becomes the number of the utterance or
                          turn from 1, ``{user}`` the last user text, ``{tool}`` the last output
                          of a tool (the latter two only for the LLM)
``delay_ms``              STT: time before the text
``first_token_ms``        LLM: time before the first word
``token_ms``              LLM: time before each later word
``tool_calls``            LLM: calls after the text: ``{name, arguments}``; ``arguments`` is a
                          table, or a text that is sent as it is (broken JSON, say)
``after``                 words (LLM), pieces (TTS) that come before the fault
``wedge_s``               fault: ignore the cancel token for so long
``stall``                 fault: go silent until cancelled
``error``, ``message``    fault: raise ``StageError(error, message)``
``crash``                 fault: raise ``RuntimeError(crash)``, as a bug would
========================  =======================================================================

A session can bring its own script, which goes before the file: the LLM follows a line
``#script {...}`` in the last system message (the session's instructions), the STT one in
its prompt. The JSON is what the table of that stage holds::

    #script {"answers": ["Sure.", {"text": "One two three", "token_ms": 50, "stall": true}]}

The TTS speaks in tones: of :func:`~s2s_actors.backends.scripted.tone_hz` for the session,
or of the pitch that a voice named ``tone-440`` asks for.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from s2s_actors.errors import SetupError, StageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK = re.compile(r"^[ \t]*#script[ \t]+", re.MULTILINE)

Ms = Annotated[float, msgspec.Meta(ge=0.0)]


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What goes wrong, and when; nothing by default. The keys are those of the module's table."""

    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    wedge_s: Ms = 0.0
    stall: bool = False
    error: str = ""
    message: str = "The script says so."
    crash: str = ""


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function call that the scripted LLM makes."""

    name: str
    arguments: dict[str, Any] | str = ""

    @property
    def arguments_json(self) -> str:
        """The arguments as the model would write them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


class SttAnswer(Fault, frozen=True, kw_only=True):
    """What the scripted STT hears in one utterance."""

    text: str = ""
    delay_ms: Ms = 0.0


class LlmAnswer(Fault, frozen=True, kw_only=True):
    """What the scripted LLM answers in one turn."""

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    first_token_ms: Ms = 0.0
    token_ms: Ms = 0.0


class SttScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table ``[stt]``."""

    answers: Annotated[tuple[str | SttAnswer, ...], msgspec.Meta(min_length=1)] = (
        "scripted utterance {n}",
    )

    def answer(self, number: int) -> SttAnswer:
        """The answer to utterance ``number`` (from 1) of a session."""
        chosen = _in_turn(self.answers, number)
        return SttAnswer(text=chosen) if isinstance(chosen, str) else chosen


class LlmRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Answers for the turns whose user text matches."""

    match: str
    answers: Annotated[tuple[str | LlmAnswer, ...], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        _check_pattern(self.match)


class LlmScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table ``[llm]``."""

    answers: Annotated[tuple[str | LlmAnswer, ...], msgspec.Meta(min_length=1)] = (
        "You said: {user}.",
    )
    rules: tuple[LlmRule, ...] = ()
    context_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def answer(self, turns: Sequence[str]) -> LlmAnswer:
        """The answer to the last of ``turns``: the user text that governs each turn so far."""
        answers, number = self.answers, len(turns)
        for rule in self.rules:
            if turns and re.search(rule.match, turns[-1]):
                answers = rule.answers
                number = sum(1 for text in turns if re.search(rule.match, text))
                break
        chosen = _in_turn(answers, number)
        return LlmAnswer(text=chosen) if isinstance(chosen, str) else chosen


class TtsRule(Fault, frozen=True, kw_only=True):
    """What goes wrong when the text to speak matches."""

    match: str

    def __post_init__(self) -> None:
        _check_pattern(self.match)


class TtsScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table ``[tts]``."""

    ms_per_char: Ms = 40.0
    chunk_ms: Annotated[int, msgspec.Meta(ge=1)] = 100
    first_chunk_ms: Ms = 0.0
    chunk_delay_ms: Ms = 0.0
    rules: tuple[TtsRule, ...] = ()

    def fault(self, text: str) -> Fault:
        """What goes wrong when ``text`` is spoken."""
        return next((rule for rule in self.rules if re.search(rule.match, text)), Fault())


class TurnScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table ``[turn]``."""

    answers: Annotated[
        tuple[Annotated[float, msgspec.Meta(ge=0.0, le=1.0)], ...], msgspec.Meta(min_length=1)
    ] = (1.0,)

    def answer(self, pause_number: int) -> float:
        """How finished an utterance sounds at a pause (from 1)."""
        return _in_turn(self.answers, pause_number)


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole script file."""

    stt: SttScript = SttScript()
    llm: LlmScript = LlmScript()
    tts: TtsScript = TtsScript()
    turn: TurnScript = TurnScript()


def read_script(path: str | None) -> Script:
    """Read a script file; None gives the built-in script.

    Raises:
        SetupError: It can't be read, or is not a script; the message names the key.
    """
    if path is None:
        return Script()
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise SetupError(f"--script {path}: can't be read ({error.strerror})") from error
    try:
        if path.endswith(".json"):
            return msgspec.json.decode(raw, type=Script)
        return msgspec.toml.decode(raw, type=Script)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SetupError(
            f"--script {path}: {error}",
            hint="the format is described in s2s_actors/backends/script.py",
        ) from error


_T = TypeVar("_T")


def in_band(text: str | None, table: type[_T]) -> _T | None:
    """The script in a line ``#script {...}`` of ``text``, None where there is no such line.

    Raises:
        StageError: The line is there, but is not a script.
    """
    mark = _MARK.search(text) if text else None
    if text is None or mark is None:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, mark.end())
        return msgspec.convert(value, table)
    except (ValueError, msgspec.MsgspecError) as error:
        text = f"#script: {error}"
        raise StageError("invalid_script", text, blames_request=True) from error


def _in_turn(answers: tuple[_T, ...], number: int) -> _T:
    return answers[max(0, number - 1) % len(answers)]


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"match is not a regular expression: {error}") from error
