"""What processes of one machine leave for each other: nothing twice, nothing lost, nothing left."""

import os
import threading

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from infra.telemetry import gauges, snapshot_folder
from infra.telemetry.snapshot_folder import SnapshotFolder
from infra.telemetry.snapshots import (
    MetricFamily,
    MetricSample,
    Snapshot,
    merge_snapshots,
    take_snapshot,
)


class Process:
    """One that counts in a registry of its own."""

    def __init__(self, home, role="web"):
        self.registry, self.role = CollectorRegistry(), role
        self.notes = Counter("tideline_notes_total", "Notes", ["kind"], registry=self.registry)
        self.times = Histogram("tideline_s", "Times", buckets=(1, 2), registry=self.registry)
        self.lag = Gauge("tideline_behind", "Lag", registry=self.registry)
        self.writer = home.open_writer()

    def write(self):
        self.writer.write(take_snapshot(self.role, self.registry))

    def die(self):
        self.writer.close()


@pytest.fixture(autouse=True)
def behind(monkeypatch):
    monkeypatch.setitem(gauges._combinations, "tideline_behind", "max")


@pytest.fixture
def home(tmp_path):
    return SnapshotFolder(tmp_path / "metrics")


def seen(home, name, labels=None, without=""):
    registry = CollectorRegistry()
    registry.register(
        type("Found", (), {"collect": lambda self: merge_snapshots(*home.read(without))})()
    )
    return registry.get_sample_value(name, labels or {})


def test_counts_add_up_and_gauges_do_as_they_say(home):
    web, worker = Process(home), Process(home, "worker")
    web.notes.labels("a").inc(2)
    worker.notes.labels("a").inc(3)
    web.times.observe(0.5)
    worker.times.observe(1.5)
    web.lag.set(7)
    worker.lag.set(4)
    web.write()
    worker.write()
    assert seen(home, "tideline_notes_total", {"kind": "a"}) == 5
    assert seen(home, "tideline_s_count") == 2
    assert seen(home, "tideline_s_bucket", {"le": "1.0"}) == 1
    assert seen(home, "tideline_s_bucket", {"le": "2.0"}) == 2
    assert seen(home, "tideline_behind") == 7
    assert seen(home, "tideline_processes", {"role": "worker"}) == 1


def test_reader_leaves_itself_out(home):
    web = Process(home)
    web.notes.labels("a").inc()
    web.write()
    assert seen(home, "tideline_notes_total", {"kind": "a"}, without=web.writer.name) is None


def test_counts_of_who_ended_stay_and_files_do_not(home):
    for turn in range(1, 4):
        process = Process(home)
        process.notes.labels("a").inc(10)
        process.lag.set(9)
        process.write()
        process.die()
        assert seen(home, "tideline_notes_total", {"kind": "a"}) == 10 * turn
    assert seen(home, "tideline_behind") is None
    assert seen(home, "tideline_processes", {"role": "web"}) is None
    assert sorted(os.listdir(home.folder)) == ["ended.counts", "lock"]


def test_reader_killed_before_it_deletes_counts_nobody_twice(home, monkeypatch):
    process = Process(home)
    process.notes.labels("a").inc(10)
    process.write()
    process.die()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(snapshot_folder.Path, "unlink", raise_interrupt)
        home.read()
    assert "ended.counts" in os.listdir(home.folder)
    assert seen(home, "tideline_notes_total", {"kind": "a"}) == 10
    assert seen(home, "tideline_notes_total", {"kind": "a"}) == 10


def raise_interrupt(*_, **__):
    raise KeyboardInterrupt


def test_many_readers_at_once_see_one_sum(home):
    for _ in range(5):
        process = Process(home)
        process.notes.labels("a").inc()
        process.write()
        process.die()
    barrier, sums = threading.Barrier(4), []

    def read():
        barrier.wait()
        sums.append(seen(home, "tideline_notes_total", {"kind": "a"}))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [5] * 4


def test_what_is_no_snapshot_is_passed_over(home):
    broken, whole = Process(home), Process(home)
    home.write(broken.writer.name, b"from another version")
    whole.notes.labels("a").inc()
    whole.write()
    assert seen(home, "tideline_notes_total", {"kind": "a"}) == 1
    home.write("ended", b"from another version")
    assert seen(home, "tideline_notes_total", {"kind": "a"}) == 1


def test_a_gauge_that_only_other_processes_have_is_shown_with_its_largest_value():
    """Of a module that only they load, or of the next release."""
    samples = [
        MetricSample("tideline_of_others", {"shard": "shard0"}, value) for value in (1, 3, 2)
    ]
    families = [[MetricFamily("tideline_of_others", "gauge", "", [each])] for each in samples]
    merged = merge_snapshots([Snapshot("compensator", each) for each in families], None)
    (metric,) = [metric for metric in merged if metric.name == "tideline_of_others"]
    assert [sample.value for sample in metric.samples] == [3]
