"""Mistakes of a deployment: wrong databases, databases without tables, a wrong clock."""

import http.client
import time
from collections.abc import Iterable, Mapping

from config.runner.port import HOST, is_answering
from faults.cluster.fake_time import NoFakeTime, find_fake_time
from faults.experiments.scene import Scene
from faults.experiments.types import Experiment, ExperimentSkipped
from faults.history.calls import ClientCall
from faults.history.entries import second_of

CALLS_PER_S = 30.0
REFUSED_FOR_S = 6.0
AHEAD_S = 300


def _wrong_databases(scene: Scene) -> None:
    """A web with these URLs must never be ready; the rows of the accounts do not change."""
    own = scene.cluster.processes["web0"].environment
    shards = own["SHARD_DATABASE_URLS"].split(",")
    swapped = [shards[1], shards[0], *shards[2:]]
    wrong = {
        "two shards swapped": {"SHARD_DATABASE_URLS": ",".join(swapped)},
        "one shard missing": {"SHARD_DATABASE_URLS": ",".join(shards[:-1])},
        "a foreign database": {"SHARD_DATABASE_URLS": ",".join([*shards[:3], own["DATABASE_URL"]])},
    }
    for name, environment in wrong.items():
        scene.check(not _becomes_ready(scene, environment), f"{name}: never ready")


def _no_tables(scene: Scene) -> None:
    """Fresh databases: the web is not ready, and answers 503."""
    urls = [scene.nemesis.create_database(name) for name in scene.cluster.services.postgres]
    environment = {"DATABASE_URL": urls[0], "SHARD_DATABASE_URLS": ",".join(urls[1:])}
    statuses: list[int] = []
    is_ready = _becomes_ready(scene, environment, statuses)
    scene.check(not is_ready, "not ready without tables")
    scene.note(f"answers without tables: {sorted(set(statuses))}")
    scene.check(not {*statuses} - {0, 503}, "refusals are 503", sorted(set(statuses)))


def _becomes_ready(
    scene: Scene, environment: Mapping[str, str], statuses: list[int] | None = None
) -> bool:
    """Whether web0, started with this, is ready at any time; then it is started as before."""
    web, port = scene.cluster.processes["web0"], scene.cluster.ports["web0"]
    web.stop()
    web.begin(environment=environment)
    end_s, is_ready = time.monotonic() + REFUSED_FOR_S, False
    while time.monotonic() < end_s and web.is_running and not is_ready:
        is_ready = is_answering(port, "/health/ready")
        if statuses is not None:
            statuses.append(_status(port, scene.accounts[0].tokens[0]))
        time.sleep(0.1)
    web.kill()
    web.begin()
    scene.cluster.wait_until_ready()
    return is_ready


def _status(port: int, token: str) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("GET", "/api/v1/timelines/home", headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def _wrong_clock(scene: Scene) -> None:
    """One web and one drainer live five minutes in the future."""
    fake = _fake_time()
    ahead = [scene.cluster.processes[name] for name in ("web0", "drainer0")]
    for process in ahead:
        process.stop()
        process.begin(environment=fake)
    scene.cluster.wait_until_ready()
    with scene.under_load(CALLS_PER_S):
        time.sleep(12)
    for process in ahead:
        process.stop()
        process.begin()
    scene.cluster.wait_until_ready()
    scene.note("web0 and drainer0 were five minutes ahead")
    apart_s = _seconds_apart(scene.load.calls)
    scene.check(apart_s > AHEAD_S - 60, "posts have ids of both clocks", f"{apart_s} s apart")


def _fake_time() -> dict[str, str]:
    """The environment of a process that is ahead. Raises ExperimentSkipped."""
    try:
        library = find_fake_time()
    except NoFakeTime as error:
        raise ExperimentSkipped(str(error)) from error
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"+{AHEAD_S}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def _seconds_apart(calls: Iterable[ClientCall]) -> int:
    """Between the first and the last second in the ids of posts."""
    seconds = [second_of(call.made) for call in calls if call.kind == "post" and call.made]
    return max(seconds) - min(seconds)


DEPLOYMENTS = [
    Experiment("F39", "shard URLs swapped, one missing, one foreign", _wrong_databases),
    Experiment("F40", "databases without tables", _no_tables),
    Experiment("F16", "one web and one drainer are five minutes ahead", _wrong_clock),
]
