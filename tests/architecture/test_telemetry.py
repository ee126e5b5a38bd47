"""Dashboard, alerts and documents name metrics that there are, and leave none out."""

import json
import re
from pathlib import Path

import promql_parser
import pytest
import yaml
from prometheus_client import REGISTRY
from promql_parser import AggModifierType, AggregateExpr, VectorSelector

from infra.store_states import StoreState
from infra.telemetry import gauges
from lab.reference.metrics import exported
from tests.rules.documents import leads_somewhere
from tests.rules.texts import ROOT

DASHBOARD = json.loads((ROOT / "deploy/grafana/tideline.json").read_text())
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
EXPRESSIONS = [target["expr"] for target in TARGETS] + [rule["expr"] for rule in RULES]
# Of Prometheus itself: of every series that is scraped, and of a bucket.
FROM_OUTSIDE = {"instance", "job", "le"}
# What it says of every scrape.
SCRAPES = {"up": set()}
# Of Prometheus's node_exporter, which operators run on the machines of the servers.
MACHINES = {
    "node_filesystem_avail_bytes": {"fstype", "mountpoint"},
    "node_filesystem_size_bytes": {"fstype", "mountpoint"},
    "node_memory_MemAvailable_bytes": set(),
    "node_memory_MemTotal_bytes": set(),
}
# What Grafana puts in place of it is a duration.
INTERVAL = "$__rate_interval"
BROKEN = ["sum(rate(a[5m])", "rate(a)", "rates(a[5m])", "a > > 1", "sum by shard (a)", "a{b=c}"]


def labels_of_metrics():
    """Label names by metric, of all that the processes can show."""
    return {name: set(labels) for name, labels, _ in exported()}


def test_every_metric_says_what_it_is():
    assert [one.name for one in exported() if not one.says] == []


def parse(expression):
    """What is in an expression. Raises: ValueError, when Prometheus would refuse it."""
    nodes = []
    promql_parser.walk(promql_parser.parse(expression.replace(INTERVAL, "5m")), nodes.append)
    return nodes


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_name_what_is_exported(expression):
    names, nodes, labels = labels_of_metrics() | SCRAPES | MACHINES, parse(expression), set()
    for selector in (node for node in nodes if isinstance(node, VectorSelector)):
        name = selector.name
        base = name if name in names else re.sub(r"_(bucket|count|sum)$", "", name)
        assert base in names
        labels |= names[base]
        assert {one.name for one in selector.matchers.matchers} <= names[base] | FROM_OUTSIDE
    for modifier in (node.modifier for node in nodes if isinstance(node, AggregateExpr)):
        if modifier and modifier.type == AggModifierType.By:
            assert {*modifier.labels} <= labels | FROM_OUTSIDE


@pytest.mark.parametrize("expression", BROKEN)
def test_what_prometheus_would_refuse_is_found(expression):
    with pytest.raises(ValueError, match=r"\w"):
        parse(expression)


def test_every_gauge_says_how_those_of_several_processes_are_combined():
    for collector in REGISTRY._collector_to_names:
        for metric in getattr(collector, "describe", list)():
            if metric.type == "gauge" and metric.name.startswith("tideline_"):
                assert metric.name in gauges._combinations


def test_labels_have_few_values():
    """Nothing that grows with accounts, posts or requests."""
    few = {"family", "from", "job", "kind", "lanes", "outcome", "role", "route", "shard", "source"}
    few |= {"fact", "value"}  # as many as somebody has set
    few |= {"store"}  # databases and Redis
    few |= {"replica", "restriction", "sources", "state", "status", "tier", "webhook", "why"}
    assert set().union(*labels_of_metrics().values()) <= few


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alerts_say_when_how_bad_what_and_what_to_do(rule):
    assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert leads_somewhere(Path(ROOT / "README.md"), rule["annotations"]["runbook_url"])


def test_each_state_of_a_store_has_a_chapter_and_an_alert():
    chapters = re.findall(
        r"^## (\w+)$", (ROOT / "docs/how-to/when-a-store-fails.md").read_text(), re.M
    )
    states = {state.label for state in StoreState} - {"ok"}
    assert {*chapters} == states
    rules = " ".join(rule["expr"] + rule["annotations"]["runbook_url"] for rule in RULES)
    assert {state for state in states if state not in rules} == set()


def test_scrape_asks_the_page_there_is():
    (job,) = yaml.safe_load((ROOT / "deploy/prometheus/scrape.yml").read_text())
    assert (job["job_name"], job["metrics_path"]) == ("tideline", "/metrics")


def test_dashboard_stands_by_itself():
    assert DASHBOARD["uid"] == "tideline"
    assert DASHBOARD["schemaVersion"] >= 36
    variables = {variable["name"]: variable["type"] for variable in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource": "datasource", "instance": "query"}
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert {target["datasource"]["uid"] for target in TARGETS} == {"${datasource}"}


def test_panels_lie_beside_each_other():
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert {x for x, _ in cells} <= set(range(24))
