"""The cores are shared out among calls that run at once."""

from __future__ import annotations

import pytest

from s2s_actors.backends.cpu import Cores


def test_a_call_that_is_alone_gets_as_many_threads_as_it_can_use() -> None:
    cores = Cores(4)
    with cores.lend(3) as threads:
        assert threads == 3
    with cores.lend() as threads:
        assert threads == 1


def test_beside_others_each_call_has_one_thread_and_none_waits() -> None:
    cores = Cores(2)
    with cores.lend(), cores.lend(2) as second, cores.lend(2) as third:
        assert (second, third) == (1, 1)


def test_several_calls_may_have_several_threads_where_there_are_cores_for_them() -> None:
    cores = Cores(5)
    with cores.lend(2) as first, cores.lend(2) as second, cores.lend(2) as third:
        assert (first, second, third) == (2, 2, 1)


def _fail(cores: Cores) -> None:
    with cores.lend(2):
        raise LookupError


def test_what_was_lent_comes_back_whatever_happens() -> None:
    cores = Cores(2)
    with cores.lend(2), cores.lend(2), cores.lend(2):
        pass
    with pytest.raises(LookupError):
        _fail(cores)
    with cores.lend(2) as threads:
        assert threads == 2
