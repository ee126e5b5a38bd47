"""Dashboard, alerts and documents name metrics that there are, and leave none out.

There is no PromQL parser in the lock: of expressions names, label names and brackets are checked.
"""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

from infra.sight.gauges import how_together
from infra.sight.scraped import SCRAPED
from tests.architecture.test_docs import OPERATIONS, ROOT, _leads_somewhere

DASHBOARD = json.loads((ROOT / "deploy/grafana/tideline.json").read_text())
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
EXPRESSIONS = [target["expr"] for target in TARGETS] + [rule["expr"] for rule in RULES]
OF_PROCESSES = {
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_open_fds",
    "tideline_processes",
}
SELECTOR = re.compile(r"\b((?:tideline|process)_\w+)(?:\{([^}]*)\})?")
# Of Prometheus itself, of every series that is scraped.
FROM_OUTSIDE = {"instance", "job"}


def exported():
    """Label names by metric, of all that web, worker and compensator can show."""
    for module in ("config.urls", "config.middleware", "infra.changes.tasks"):
        import_module(module)
    found = {}
    for collector in {*REGISTRY._collector_to_names, *SCRAPED._collector_to_names}:
        for metric in getattr(collector, "describe", list)():
            labels = getattr(collector, "_labelnames", ()) or getattr(metric, "_labelnames", ())
            found[metric.name + ("_total" if metric.type == "counter" else "")] = set(labels)
    ours = {name: labels for name, labels in found.items() if name.startswith("tideline_")}
    return ours | {name: {"role"} for name in OF_PROCESSES}


def test_every_metric_is_in_the_table_and_the_reverse():
    rows = re.findall(
        r"^\| `((?:tideline|process)_\w+)` \| ([^|]*) \|", OPERATIONS.read_text(), re.M
    )
    documented = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    assert documented == exported()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_name_what_is_exported(expression):
    names = exported()
    for name, matchers in SELECTOR.findall(expression):
        base = name if name in names else re.sub(r"_(bucket|count|sum)$", "", name)
        assert base in names
        labels = set(re.findall(r"(\w+)\s*(?:=|!)", matchers or ""))
        assert labels <= names[base] | FROM_OUTSIDE
    for opening, closing in ("()", "{}", "[]"):
        assert expression.count(opening) == expression.count(closing)


def test_every_gauge_says_what_processes_show_together():
    for collector in REGISTRY._collector_to_names:
        for metric in getattr(collector, "describe", list)():
            if metric.type == "gauge" and metric.name.startswith("tideline_"):
                how_together(metric.name)


def test_labels_have_few_values():
    """Nothing that grows with accounts, posts or requests."""
    few = {"family", "from", "job", "kind", "lanes", "outcome", "role", "route", "shard", "source"}
    few |= {"sources", "state", "status", "tier", "why"}
    assert set().union(*exported().values()) <= few


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alerts_say_when_how_bad_what_and_what_to_do(rule):
    assert re.fullmatch(r"\d+[mh]", rule["for"])
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert _leads_somewhere(Path(ROOT / "README.md"), rule["annotations"]["runbook_url"])


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
