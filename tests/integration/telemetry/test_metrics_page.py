"""Who is shown /metrics."""

import pytest
from django.test import Client

from infra.telemetry.publishing import metrics_folder
from infra.telemetry.snapshot_folder import SnapshotFolder
from infra.telemetry.snapshots import MetricFamily, MetricSample, Snapshot

pytestmark = pytest.mark.usefixtures("world")


def get(**headers):
    return Client().get("/metrics", headers=headers)


def test_who_asks_directly_is_shown_counts_and_what_stores_say():
    page = get()
    assert page.status_code == 200
    assert b"tideline_responses_total" in page.content
    assert b"# TYPE tideline_changes gauge" in page.content


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Forwarded-Proto"])
def test_who_came_through_a_proxy_is_not(header):
    assert get(**{header: "for=192.0.2.1"}).status_code == 404


def test_with_a_token_only_who_has_it(settings):
    settings.METRICS_TOKEN = "scrape-me"
    assert get().status_code == 404
    assert get(Authorization="Bearer scrape-you").status_code == 404
    through_a_proxy = {"Authorization": "Bearer scrape-me", "X-Forwarded-For": "192.0.2.1"}
    assert get(**through_a_proxy).status_code == 200


def test_what_stores_say_is_not_what_a_version_before_counted(settings, tmp_path):
    settings.RUNTIME_DIR = str(tmp_path)
    name = "tideline_moderation_decisions"
    counted = MetricFamily(
        name, "counter", "", [MetricSample(f"{name}_total", {"kind": "warn"}, 7)]
    )
    before = SnapshotFolder(metrics_folder()).open_writer()
    before.write(Snapshot("web", [counted]))
    before.close()
    page = get().content.decode()
    assert page.count(f"# TYPE {name}_total counter") == 1
    assert f'{name}_total{{kind="warn"}} 7.0' not in page
