"""The page about monitoring names series that the server really has."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from s2s_actors.actors.board import Board
from s2s_actors.server.metrics import Metrics
from tests.server.boards import no_load

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "monitor.md"


def test_every_series_that_the_page_names_exists() -> None:
    answer = Metrics(Board(), no_load(), lambda: True).answer()
    families = list(text_string_to_metric_families(bytes(answer.body).decode()))
    known = {sample.name for family in families for sample in family.samples}
    known |= {family.name for family in families}
    named = set(re.findall(r"\bs2s_[a-z_]+", PAGE.read_text(encoding="utf-8"))) - {"s2s_actors"}
    assert len(named) >= 10
    assert named - known == set()
