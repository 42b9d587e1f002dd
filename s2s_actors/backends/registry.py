"""Finds backends by name.

Importing this module imports no model library; a backend's module is imported when it is
asked for. Third parties add backends by entry points in the group ``s2s_actors.backends``:
the entry point's name is ``kind.name`` (``stt.mybackend``), its object is a class like
those here, with a class method ``load(options, progress)``.
"""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast, overload

from s2s_actors.backends.base import (
    Backend,
    BackendOptions,
    Kind,
    LanguageModel,
    SpeechToText,
    TextToSpeech,
    TurnDetector,
    VoiceActivityDetector,
)
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from s2s_actors.backends.base import Progress

__all__ = [
    "BACKENDS",
    "BackendChoice",
    "ModelSelection",
    "backend_names",
    "import_backend",
    "load_backend",
]

ENTRY_POINT_GROUP: Final = "s2s_actors.backends"

_HERE = "s2s_actors.backends"
_LOCAL_HINT = "pip install 's2s_actors[local]'"

BACKENDS: Final[Mapping[Kind, Mapping[str, str]]] = {
    "vad": {
        "silero": f"{_HERE}.silero:SileroVad",
        "scripted": f"{_HERE}.scripted:ScriptedVad",
    },
    "stt": {
        "faster-whisper": f"{_HERE}.whisper:FasterWhisper",
        "scripted": f"{_HERE}.scripted:ScriptedStt",
    },
    "llm": {
        "transformers": f"{_HERE}.transformers_chat:TransformersChat",
        "openai": f"{_HERE}.openai_chat:OpenAIChat",
        "scripted": f"{_HERE}.scripted:ScriptedLlm",
    },
    "tts": {
        "piper": f"{_HERE}.piper_voice:PiperVoice",
        "scripted": f"{_HERE}.scripted:ScriptedTts",
    },
    "turn": {
        "smart-turn": f"{_HERE}.smart_turn:SmartTurn",
        "scripted": f"{_HERE}.scripted:ScriptedTurn",
    },
}
"""The backends that come along, ``module:Class`` by kind and name; the first is the default."""


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A backend by name, and what it is loaded with."""

    name: str
    options: BackendOptions = field(default_factory=BackendOptions)


_DEFAULT: Final[Mapping[Kind, BackendChoice]] = {
    kind: BackendChoice(next(iter(names))) for kind, names in BACKENDS.items()
}


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """The backends of a process; by default the embedded ones."""

    vad: BackendChoice = _DEFAULT["vad"]
    stt: BackendChoice = _DEFAULT["stt"]
    llm: BackendChoice = _DEFAULT["llm"]
    tts: BackendChoice = _DEFAULT["tts"]
    turn: BackendChoice = _DEFAULT["turn"]

    @classmethod
    def scripted(cls, script: str | None = None) -> ModelSelection:
        """All of them scripted, for tests and load."""
        choice = BackendChoice("scripted", BackendOptions(script=script))
        return cls(choice, choice, choice, choice, choice)


class _Loadable(Protocol):
    def load(self, options: BackendOptions, progress: Progress) -> Backend: ...


def backend_names(kind: Kind) -> list[str]:
    """Names that ``--vad``, ``--stt`` and so on may take, the default first."""
    return [*BACKENDS[kind], *sorted(_third_party(kind).keys() - BACKENDS[kind].keys())]


def _silent(line: str) -> None:
    del line


@overload
def load_backend(
    kind: Literal["vad"], name: str, options: BackendOptions, progress: Progress = ...
) -> VoiceActivityDetector: ...
@overload
def load_backend(
    kind: Literal["stt"], name: str, options: BackendOptions, progress: Progress = ...
) -> SpeechToText: ...
@overload
def load_backend(
    kind: Literal["llm"], name: str, options: BackendOptions, progress: Progress = ...
) -> LanguageModel: ...
@overload
def load_backend(
    kind: Literal["tts"], name: str, options: BackendOptions, progress: Progress = ...
) -> TextToSpeech: ...
@overload
def load_backend(
    kind: Literal["turn"], name: str, options: BackendOptions, progress: Progress = ...
) -> TurnDetector: ...
@overload
def load_backend(
    kind: Kind, name: str, options: BackendOptions, progress: Progress = ...
) -> Backend: ...
def load_backend(
    kind: Kind, name: str, options: BackendOptions, progress: Progress = _silent
) -> Backend:
    """Load one backend; the caller closes it.

    Raises:
        SetupError: No backend has that name, a library or its weights are missing, or an
            option does not fit; the message names the setting.
    """
    with _explained(kind, name):
        return _find(kind, name).load(options, progress)


def import_backend(kind: Kind, name: str) -> None:
    """Import what a backend needs, so that loading it on another thread imports no more.

    Raises:
        SetupError: No backend has that name, or a library is missing.
    """
    with _explained(kind, name):
        _find(kind, name)


@contextlib.contextmanager
def _explained(kind: Kind, name: str) -> Iterator[None]:
    """Turn a missing library into what the operator can do about it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "s2s_actors":
            raise
        raise SetupError(
            f"--{kind} {name}: the Python package {error.name!r} is not installed",
            hint=_LOCAL_HINT if name in BACKENDS[kind] else None,
        ) from error


def _find(kind: Kind, name: str) -> _Loadable:
    target = BACKENDS[kind].get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        return cast("_Loadable", getattr(importlib.import_module(module), attribute))
    third_party = _third_party(kind)
    if name in third_party:
        return cast("_Loadable", entry_points(group=ENTRY_POINT_GROUP)[f"{kind}.{name}"].load())
    raise SetupError(
        f"--{kind}: there is no backend {name!r}; known are {', '.join(backend_names(kind))}"
    )


def _third_party(kind: Kind) -> dict[str, str]:
    prefix = f"{kind}."
    return {
        point.name.removeprefix(prefix): point.value
        for point in entry_points(group=ENTRY_POINT_GROUP)
        if point.name.startswith(prefix)
    }
