"""Finds backends by name and loads the models of a process.

Importing this module imports no model library; a backend's module is imported when it is
asked for. Third parties add backends by entry points in the group ``s2s_actors.backends``:
the entry point's name is ``kind.name`` (``stt.mybackend``), its object is a class like
those here, with a class method ``load(options, progress)``.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import time
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast, overload

from s2s_actors.backends.base import (
    Backend,
    BackendOptions,
    Kind,
    LanguageModel,
    Models,
    SpeechToText,
    TextToSpeech,
    TurnDetector,
    VoiceActivityDetector,
)
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.backends.base import Progress

__all__ = [
    "BACKENDS",
    "BackendChoice",
    "ModelSelection",
    "backend_names",
    "load_backend",
    "load_models",
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
    try:
        return _find(kind, name).load(options, progress)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "s2s_actors":
            raise
        raise SetupError(
            f"--{kind} {name}: the Python package {error.name!r} is not installed",
            hint=_LOCAL_HINT if name in BACKENDS[kind] else None,
        ) from error


def load_models(selection: ModelSelection, on_progress: Progress = _silent) -> Models:
    """Load and warm up all the models; on failure those already loaded are closed.

    Raises:
        SetupError: As :func:`load_backend`.
    """
    loaded: list[Backend] = []
    try:
        for kind in BACKENDS:
            choice: BackendChoice = getattr(selection, kind)
            loaded.append(_load_and_warm_up(kind, choice, on_progress))
    except BaseException:
        for backend in loaded:
            backend.close()
        raise
    _give_back_memory()
    vad, stt, llm, tts, turn = loaded
    return Models(
        cast("VoiceActivityDetector", vad),
        cast("SpeechToText", stt),
        cast("LanguageModel", llm),
        cast("TextToSpeech", tts),
        cast("TurnDetector", turn),
    )


def _give_back_memory() -> None:
    """Return what loading has freed to the system: with the embedded models some 200 MiB.

    The C library of Linux keeps it otherwise, in case that it is wanted again.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _load_and_warm_up(kind: Kind, choice: BackendChoice, on_progress: Progress) -> Backend:
    started_s = time.perf_counter()
    wanted = choice.options.model or choice.options.voice
    on_progress(f"loading {kind} {choice.name}{f' {wanted}' if wanted else ''} ...")
    backend = load_backend(kind, choice.name, choice.options, on_progress)
    try:
        backend.warm_up()
    except BaseException:
        backend.close()
        raise
    took_s = time.perf_counter() - started_s
    on_progress(f"{kind} ready in {took_s:.1f} s ({backend.info.id} from {backend.info.source})")
    return backend


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
