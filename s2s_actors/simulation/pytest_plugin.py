"""A pytest plugin for who tests an agent: fixtures ``s2s_simulation`` and ``s2s_seed``.

It is found by its entry point wherever this package is installed, so it imports nothing but
pytest before a test asks for a simulation.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from s2s_actors.simulation.world import Simulation

    OpenSimulation: TypeAlias = "Callable[..., Simulation]"
    """Takes the arguments of :class:`Simulation`; without ``seed`` it is that of the test."""

_WORLDS: pytest.StashKey[list[Simulation]] = pytest.StashKey()
_FAILURE: pytest.StashKey[BaseException] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("s2s_actors", "simulations of s2s_actors")
    group.addoption(
        "--s2s-seeds",
        type=int,
        default=None,
        metavar="N",
        help="run each simulation with seeds 0 to N-1 (default: as it is marked, or 1)",
    )
    group.addoption(
        "--s2s-seed",
        type=int,
        default=None,
        metavar="SEED",
        help="run each simulation with this seed only, to have a failure again",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers", "s2s_seeds(count): runs a test of simulations with that many seeds"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each seed."""
    if "s2s_seed" in metafunc.fixturenames:
        seeds = _seeds(metafunc.config, metafunc.definition)
        metafunc.parametrize("s2s_seed", seeds, ids=[f"seed-{seed}" for seed in seeds])


def _seeds(config: pytest.Config, test: pytest.Item) -> list[int]:
    one: int | None = config.getoption("--s2s-seed")
    if one is not None:
        return [one]
    count: int | None = config.getoption("--s2s-seeds")
    if count is None:
        marker = test.get_closest_marker("s2s_seeds")
        count = 1 if marker is None else int(marker.args[0])
    return list(range(count))


@pytest.fixture
def s2s_simulation(request: pytest.FixtureRequest, s2s_seed: int) -> Generator[OpenSimulation]:
    """Opens simulations, and closes them, with their last checks, at the end of the test."""
    from s2s_actors.simulation.world import Simulation  # noqa: PLC0415 - heavy

    worlds = request.node.stash.setdefault(_WORLDS, [])

    def open_simulation(**options: Any) -> Simulation:
        world = Simulation(options.pop("seed", s2s_seed), **options).__enter__()
        worlds.append(world)
        return world

    yield open_simulation
    failure = request.node.stash.get(_FAILURE, None)
    _close_all(worlds, failure)


def _close_all(worlds: list[Simulation], failure: BaseException | None) -> None:
    """Close the last one first, and all of them, even if one finds a fault at its end."""
    while worlds:
        try:
            worlds.pop().close(failure)
        except BaseException as error:
            _close_all(worlds, error)
            raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell of a test that failed how to have the same again."""
    report = yield
    if call.excinfo is not None and report.failed:
        item.stash[_FAILURE] = call.excinfo.value
        for world in item.stash.get(_WORLDS, []):
            report.sections.append(("simulation", f"{world.report}\n{_again(item)}"))
    return report


def _again(item: pytest.Item) -> str:
    seed = item.funcargs["s2s_seed"] if isinstance(item, pytest.Function) else 0
    return f"Run it again: pytest {shlex.quote(item.nodeid)} --s2s-seed={seed}"
