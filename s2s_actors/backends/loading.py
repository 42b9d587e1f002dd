"""Loads the models of a process beside each other.

Most of a start is Python that imports libraries, which two threads do no faster than one. What
comes then, reading weights, laying them out and warming up, goes on outside the interpreter's
lock: the small models do it while the libraries of the language model are imported.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import threading
import time
from typing import TYPE_CHECKING, Final, cast

from s2s_actors.backends.base import (
    Kind,
    LanguageModel,
    Models,
    SpeechToText,
    TextToSpeech,
    TurnDetector,
    VoiceActivityDetector,
)
from s2s_actors.backends.registry import BACKENDS, import_backend, load_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.base import Backend, Progress
    from s2s_actors.backends.registry import BackendChoice, ModelSelection

__all__ = ["load_models"]

_ORDER: Final[tuple[Kind, ...]] = ("stt", "tts", "vad", "turn", "llm")
"""Who begins when. The light libraries first: their models load while the others are imported.

The last one is loaded by the thread that calls. It is the one that may take minutes, where it
has to be fetched or converted, and Ctrl-C reaches that thread only.
"""


def _silent(line: str) -> None:
    del line


def load_models(selection: ModelSelection, on_progress: Progress = _silent) -> Models:
    """Load and warm up all the models; on failure those already loaded are closed.

    No thread is left but when the calling one is interrupted: it goes on at once, and what is
    loaded later is closed where it is.

    Args:
        selection: Which backends.
        on_progress: Told what begins and ends, one line each, the kind first; comes from several
            threads, one at a time.

    Raises:
        SetupError: As :func:`~s2s_actors.backends.registry.load_backend`. Where several fail, of
            the first in the order of :data:`~s2s_actors.backends.registry.BACKENDS`.
    """
    with _collector_at_rest():
        vad, stt, llm, tts, turn = _Loading(selection, on_progress).run()
    _give_back_memory()
    return Models(
        cast("VoiceActivityDetector", vad),
        cast("SpeechToText", stt),
        cast("LanguageModel", llm),
        cast("TextToSpeech", tts),
        cast("TurnDetector", turn),
    )


class _Loading:
    """The loads of one process: which have come to an end, and how."""

    def __init__(self, selection: ModelSelection, on_progress: Progress) -> None:
        self._selection = selection
        self._on_progress = on_progress
        self._telling = threading.Lock()
        self._lock = threading.Lock()
        self._loaded: dict[Kind, Backend] = {}
        self._errors: dict[Kind, BaseException] = {}
        self._abandoned = False

    def run(self) -> list[Backend]:
        """Load them all, and return them in the order of the kinds."""
        threads: list[threading.Thread] = []
        try:
            for kind in _ORDER:
                if self._is_pointless(kind):
                    continue
                threads += self._begin(kind)
            for thread in threads:
                thread.join()
        except BaseException:
            self._abandon()
            raise
        for kind in BACKENDS:
            if kind in self._errors:
                self._abandon()
                raise self._errors[kind]
        return [self._loaded[kind] for kind in BACKENDS]

    def _is_pointless(self, kind: Kind) -> bool:
        """Whether a kind has failed whose error goes before whatever this one's may be."""
        places = list(BACKENDS)
        with self._lock:
            return any(places.index(failed) < places.index(kind) for failed in self._errors)

    def _begin(self, kind: Kind) -> list[threading.Thread]:
        """Import a backend here, and have it loaded; the thread that does, if there is one."""
        choice: BackendChoice = getattr(self._selection, kind)
        wanted = choice.options.model or choice.options.voice
        self._tell(kind, f"loading {choice.name}{f' {wanted}' if wanted else ''} ...")
        try:
            # Never on two threads at once: of modules that import each other one of the threads
            # may get a half.
            import_backend(kind, choice.name)
        except Exception as error:  # noqa: BLE001 - raised when all have come to an end
            self._fail(kind, error)
            return []
        if kind == _ORDER[-1]:
            self._load(kind, choice)
            return []
        thread = threading.Thread(
            target=self._load, args=(kind, choice), name=f"load {kind}", daemon=True
        )
        thread.start()
        return [thread]

    def _load(self, kind: Kind, choice: BackendChoice) -> None:
        started_s = time.perf_counter()
        try:
            backend = self._warmed_up(kind, choice)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - raised when all have come to an end
            self._fail(kind, error)
            return
        with self._lock:
            is_wanted = not self._abandoned
            if is_wanted:
                self._loaded[kind] = backend
        if not is_wanted:
            backend.close()
            return
        took_s = time.perf_counter() - started_s
        info = backend.info
        self._tell(kind, f"ready in {took_s:.1f} s ({info.id} from {info.source})")

    def _warmed_up(self, kind: Kind, choice: BackendChoice) -> Backend:
        backend = load_backend(
            kind, choice.name, choice.options, lambda line: self._tell(kind, line)
        )
        try:
            backend.warm_up()
        except BaseException:
            backend.close()
            raise
        return backend

    def _tell(self, kind: Kind, line: str) -> None:
        with self._telling:
            self._on_progress(f"{kind}: {line}")

    def _fail(self, kind: Kind, error: BaseException) -> None:
        with self._lock:
            self._errors[kind] = error

    def _abandon(self) -> None:
        """Close what is loaded, now or later."""
        with self._lock:
            self._abandoned = True
            loaded = list(self._loaded.values())
            self._loaded.clear()
        for backend in loaded:
            backend.close()


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Look for no garbage: half a second, for a million objects that all stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _give_back_memory() -> None:
    """Return what loading has freed to the system: with the embedded models some 200 MiB.

    The C library of Linux keeps it otherwise, in case that it is wanted again.
    """
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
