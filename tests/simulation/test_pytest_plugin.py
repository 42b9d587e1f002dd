"""The plugin: a fixture, light until it is asked for; what fails tells its seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "test_weather_agent.py"
FAILS_WITH_A_SEED = """
import pytest

@pytest.mark.s2s_seeds(4)
def test_it(s2s_simulation, s2s_seed):
    world = s2s_simulation(units=2)
    world.call().say_text("hello")
    world.run()
    assert s2s_seed != 2
"""
NEVER_COMES_BACK = """
def test_it(s2s_simulation):
    world = s2s_simulation()
    world.call()
    world.run()
    world.plant.wedged.add("unit-0")
"""
HEAVY = "[each for each in ('numpy', 'msgspec', 'pykka', 'statemachine') if each in sys.modules]"


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
        env=environment,
    )


def pytest_of(source: str, path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (path / "test_it.py").write_text(source, encoding="utf-8")
    return python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", *options, cwd=path)


def test_the_example_of_the_documentation_passes_as_a_user_would_run_it(tmp_path: Path) -> None:
    done = pytest_of(EXAMPLE.read_text(encoding="utf-8"), tmp_path, "-W", "error")
    assert done.returncode == 0, done.stdout
    assert "23 passed" in done.stdout


def test_a_failure_tells_its_seed_and_that_seed_fails_again(tmp_path: Path) -> None:
    done = pytest_of(FAILS_WITH_A_SEED, tmp_path)
    assert "1 failed, 3 passed" in done.stdout
    assert "The same again: Simulation(seed=2, units=2, " in done.stdout
    assert "Run it again: pytest 'test_it.py::test_it[seed-2]' --s2s-seed=2" in done.stdout
    again = pytest_of(FAILS_WITH_A_SEED, tmp_path, "--s2s-seed=2")
    assert "1 failed" in again.stdout
    assert "passed" not in again.stdout


def test_more_seeds_can_be_asked_for(tmp_path: Path) -> None:
    done = pytest_of(FAILS_WITH_A_SEED, tmp_path, "--s2s-seeds=6")
    assert "1 failed, 5 passed" in done.stdout


def test_a_world_that_does_not_end_well_fails_its_test(tmp_path: Path) -> None:
    done = pytest_of(NEVER_COMES_BACK, tmp_path)
    assert done.returncode == 1
    assert "not every unit came back" in done.stdout
    assert "The same again: Simulation(seed=0" in done.stdout


def test_the_plugin_imports_nothing_heavy(tmp_path: Path) -> None:
    code = f"import sys; import s2s_actors.simulation.pytest_plugin; print({HEAVY})"
    assert python("-c", code, cwd=tmp_path).stdout == "[]\n"
