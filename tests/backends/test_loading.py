"""The models of a process load beside each other, and as one: all of them, or none."""

from __future__ import annotations

import gc
import threading
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING, ClassVar, Self

import pytest

from s2s_actors.backends import registry
from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.loading import load_models
from s2s_actors.backends.registry import BACKENDS, BackendChoice, ModelSelection
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from s2s_actors.backends.base import BackendOptions, Kind, Progress

PATIENCE_S = 30.0


class Recorded:
    """A backend that does on loading and warming up what a test has in mind."""

    kind: ClassVar[Kind]
    loading: ClassVar[dict[Kind, Callable[[], None]]] = {}
    warming_up: ClassVar[dict[Kind, Callable[[], None]]] = {}
    begun: ClassVar[list[Kind]] = []
    closed: ClassVar[list[Kind]] = []

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(id="recorded", kind=self.kind, backend="recorded", source="here")

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        del options
        cls.begun.append(cls.kind)
        progress("unpacking")
        cls.loading.get(cls.kind, _nothing)()
        return cls()

    def warm_up(self) -> None:
        self.warming_up.get(self.kind, _nothing)()

    def close(self) -> None:
        self.closed.append(self.kind)


class RecordedVad(Recorded):
    kind = "vad"


class RecordedStt(Recorded):
    kind = "stt"


class RecordedLlm(Recorded):
    kind = "llm"


class RecordedTts(Recorded):
    kind = "tts"


class RecordedTurn(Recorded):
    kind = "turn"


def _nothing() -> None:
    pass


def _fail_with(message: str) -> Callable[[], None]:
    def fail() -> None:
        raise SetupError(message)

    return fail


RECORDED = ModelSelection(*[BackendChoice("recorded")] * 5)


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = [
        EntryPoint(
            f"{kind}.recorded",
            f"{__name__}:Recorded{kind.capitalize()}",
            registry.ENTRY_POINT_GROUP,
        )
        for kind in BACKENDS
    ]
    monkeypatch.setattr(registry, "entry_points", lambda **_: EntryPoints(points))
    yield
    for kept in (Recorded.loading, Recorded.warming_up, Recorded.begun, Recorded.closed):
        kept.clear()


def test_the_models_come_in_the_order_of_their_kinds_and_stay_open() -> None:
    models = load_models(RECORDED)
    assert [backend.info.kind for backend in models] == list(BACKENDS)
    assert not Recorded.closed


def test_each_line_of_progress_begins_with_the_kind_that_it_is_about() -> None:
    lines: list[str] = []
    load_models(RECORDED, lines.append)
    for kind in BACKENDS:
        mine = [line.removeprefix(f"{kind}: ") for line in lines if line.startswith(f"{kind}: ")]
        assert mine[:2] == ["loading recorded ...", "unpacking"]
        assert mine[2].startswith("ready in ")
        assert mine[2].endswith("(recorded from here)")
    assert len(lines) == 3 * len(BACKENDS)


def test_models_load_beside_each_other() -> None:
    everyone = threading.Barrier(len(BACKENDS), timeout=PATIENCE_S)
    Recorded.loading.update(dict.fromkeys(BACKENDS, lambda: _nothing_but(everyone.wait())))
    load_models(RECORDED)


def test_the_language_model_is_loaded_where_an_interrupt_reaches_it() -> None:
    where: list[threading.Thread] = []
    Recorded.loading["llm"] = lambda: where.append(threading.current_thread())
    load_models(RECORDED)
    assert where == [threading.current_thread()]


@pytest.mark.parametrize("failing", list(BACKENDS))
def test_what_was_loaded_is_closed_when_another_fails(failing: Kind) -> None:
    Recorded.loading[failing] = _fail_with("out of order")
    with pytest.raises(SetupError, match="out of order"):
        load_models(RECORDED)
    assert sorted([*Recorded.closed, failing]) == sorted(Recorded.begun)


def test_a_model_that_can_not_be_warmed_up_is_closed_like_the_others() -> None:
    Recorded.warming_up["llm"] = _fail_with("cold")
    with pytest.raises(SetupError, match="cold"):
        load_models(RECORDED)
    assert sorted(Recorded.closed) == sorted(BACKENDS)


def test_of_several_failures_the_first_in_the_order_of_the_kinds_is_told() -> None:
    later_ones_failed = threading.Semaphore(0)

    def fail_late(message: str) -> Callable[[], None]:
        def fail() -> None:
            assert later_ones_failed.acquire(timeout=PATIENCE_S)
            _fail_with(message)()

        return fail

    def fail_first() -> None:
        later_ones_failed.release()
        _fail_with("stt")()

    Recorded.loading.update({"vad": fail_late("vad"), "stt": fail_first, "tts": _fail_with("tts")})
    with pytest.raises(SetupError, match="vad"):
        load_models(RECORDED)


def test_a_library_that_is_missing_is_told_before_what_comes_after_it() -> None:
    Recorded.loading["turn"] = _fail_with("turn")
    recorded = BackendChoice("recorded")
    with pytest.raises(SetupError, match="--stt"):
        load_models(ModelSelection(recorded, BackendChoice("nonsense"), recorded, recorded))
    assert set(Recorded.begun) == {"vad"}


def test_no_thread_is_left_when_one_fails_while_another_still_loads() -> None:
    llm_fails = threading.Event()

    def fail() -> None:
        llm_fails.set()
        _fail_with("llm")()

    Recorded.loading["llm"] = fail
    Recorded.warming_up["tts"] = lambda: _nothing_but(llm_fails.wait(PATIENCE_S))
    with pytest.raises(SetupError, match="llm"):
        load_models(RECORDED)
    assert not _loading_threads()
    assert sorted(Recorded.closed) == ["stt", "tts", "turn", "vad"]


def test_an_interrupt_waits_for_nobody_and_what_is_loaded_later_is_closed() -> None:
    may_go_on = threading.Event()

    def interrupt() -> None:
        raise KeyboardInterrupt

    Recorded.loading["llm"] = interrupt
    Recorded.loading["tts"] = lambda: _nothing_but(may_go_on.wait(PATIENCE_S))
    with pytest.raises(KeyboardInterrupt):
        load_models(RECORDED)
    [slow] = [thread for thread in _loading_threads() if thread.name == "load tts"]
    assert "tts" not in Recorded.closed
    may_go_on.set()
    for thread in (slow, *_loading_threads()):
        thread.join(PATIENCE_S)
    assert sorted(Recorded.closed) == ["stt", "tts", "turn", "vad"]


@pytest.mark.parametrize("fails", [False, True])
def test_garbage_is_collected_again_however_loading_ends(fails: bool) -> None:
    during: list[bool] = []
    Recorded.loading["vad"] = lambda: during.append(gc.isenabled())
    if fails:
        Recorded.loading["llm"] = _fail_with("llm")
        with pytest.raises(SetupError):
            load_models(RECORDED)
    else:
        load_models(RECORDED)
    assert during == [False]
    assert gc.isenabled()


def _nothing_but(value: object) -> None:
    del value


def _loading_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("load ")]
