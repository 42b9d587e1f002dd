"""The statecharts of s2s_actors: pure, strict, and the ones that really run."""

from statecharts.base import Effect, StrictChart
from statecharts.catalogue import CHARTS

__all__ = ["CHARTS", "Effect", "StrictChart"]
