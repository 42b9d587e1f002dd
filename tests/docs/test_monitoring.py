"""The page about monitoring asks only for series, labels and values that the server really has."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from s2s_actors.actors.board import Board
from s2s_actors.actors.tally import TURN_BOUNDS_S
from s2s_actors.server.metrics import Metrics
from tests.server.boards import no_load

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "monitor.md").read_text(encoding="utf-8")
SELECTOR = re.compile(r'(?<!")\b((?:s2s|process)_[a-z_]+)(?:\{([^}]*)\})?')
MATCHER = re.compile(r'([a-z_]+)(=~|!~|!=|=)"([^"]*)"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")
OF_PROMETHEUS = {"instance", "job"}
"""Labels that it puts on every series."""
DURATION = re.compile(r"\d+[smhd]")


class Rule(msgspec.Struct, forbid_unknown_fields=True):
    """An alert, as Prometheus reads it."""

    alert: str
    expr: str
    labels: dict[str, str]
    for_: str = msgspec.field(name="for", default="0s")
    annotations: dict[str, str] = {}


class Group(msgspec.Struct, forbid_unknown_fields=True):
    """Alerts that are looked at together."""

    name: str
    rules: list[Rule]


class RuleFile(msgspec.Struct, forbid_unknown_fields=True):
    """A file of ``rule_files``."""

    groups: list[Group]


def rules() -> list[Rule]:
    """What the page has for ``rule_files``."""
    (block,) = [
        each for each in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL) if "alert:" in each
    ]
    (group,) = msgspec.yaml.decode(block, type=RuleFile).groups
    return group.rules


def queries() -> list[str]:
    """What the page has in its table of questions."""
    return [
        each for each in re.findall(r"`([^`\n]+)`", TEXT) if SELECTOR.match(each) or "(" in each
    ]


def series() -> Mapping[str, Mapping[str, set[str]]]:
    """The values of each label of each series, before anything has happened."""
    answer = Metrics(Board(), no_load(), lambda: True).answer()
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for family in text_string_to_metric_families(bytes(answer.body).decode()):
        for sample in family.samples:
            labels = found[sample.name]
            for name, value in sample.labels.items():
                labels[name].add(value)
    return found


def mistakes(query: str) -> list[str]:
    """What a query asks for and the server does not have."""
    known, wrong, labels_seen = series(), list[str](), set(OF_PROMETHEUS)
    for name, matchers in SELECTOR.findall(query):
        if name not in known:
            wrong.append(name)
            continue
        labels_seen |= set(known[name])
        for label, how, wanted in MATCHER.findall(matchers):
            values = wanted.split("|") if "~" in how else [wanted]
            wrong += [
                f"{name}: {label}={value}"
                for value in values
                if value not in known[name].get(label, ())
            ]
    for group in GROUPING.findall(query):
        wrong += [f"by {each}" for each in group.split(", ") if each not in labels_seen]
    return wrong


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("s2s_nothing == 1", ["s2s_nothing"]),
        ('s2s_units{state="sleepy"} > 0', ["s2s_units: state=sleepy"]),
        ('s2s_units{condition!="idle"} > 0', ["s2s_units: condition=idle"]),
        ('s2s_units{state=~"idle|sleepy"}', ["s2s_units: state=sleepy"]),
        ("sum by (instance, reason) (s2s_ready)", ["by reason"]),
        ('sum by (state) (s2s_units{state!="idle"})', []),
    ],
)
def test_a_query_for_what_does_not_exist_is_found(query: str, expected: list[str]) -> None:
    assert mistakes(query) == expected


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.alert)
def test_every_alert_asks_for_what_there_is(rule: Rule) -> None:
    assert SELECTOR.search(rule.expr) or rule.expr.startswith("up{")
    assert mistakes(rule.expr) == []
    assert DURATION.fullmatch(rule.for_)
    assert rule.labels["severity"] in {"page", "ticket"}


def test_every_query_of_the_table_asks_for_what_there_is() -> None:
    assert len(queries()) >= 8
    assert [wrong for query in queries() for wrong in mistakes(query)] == []


def test_no_two_alerts_have_one_name() -> None:
    names = [rule.alert for rule in rules()]
    assert len(names) == len(set(names)) >= 10


def test_every_reason_for_which_somebody_is_sent_away_is_explained() -> None:
    first_cells = re.findall(r"^\| (`[^|]*) \|", TEXT, re.MULTILINE)
    explained = {reason for cell in first_cells for reason in re.findall(r"`(\w+)`", cell)}
    assert explained == series()["s2s_refused_total"]["reason"]
    for reason in series()["s2s_clients_cut_total"]["reason"]:
        assert f"`{reason}`" in TEXT


def test_the_alert_for_late_answers_lies_on_a_step_of_the_histogram() -> None:
    (late,) = [rule for rule in rules() if "histogram_quantile" in rule.expr]
    assert float(late.expr.rpartition(" > ")[2]) in TURN_BOUNDS_S
    told = re.findall(r"steps \((.*?) s\)", TEXT, re.DOTALL)[0].replace(" and ", ", ")
    assert [float(each) for each in re.findall(r"[\d.]+", told)] == list(TURN_BOUNDS_S)
    assert all(low < high for low, high in pairwise(TURN_BOUNDS_S))
