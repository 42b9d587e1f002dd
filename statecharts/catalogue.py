"""All charts of the project, by the names that commands and documents use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecharts.connection import ConnectionChart
from statecharts.response import ResponseChart
from statecharts.server import ServerChart
from statecharts.stage import StageChart
from statecharts.turn import TurnChart
from statecharts.unit import UnitChart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from statecharts.base import StrictChart

CHARTS: Mapping[str, type[StrictChart]] = {
    "server": ServerChart,
    "unit": UnitChart,
    "connection": ConnectionChart,
    "stage": StageChart,
    "turn": TurnChart,
    "response": ResponseChart,
}
