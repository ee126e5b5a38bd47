"""Metrics of the servers on /metrics: Redis, database connections, and runs of commands."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.caching.redis_state import read_redis_state
from infra.caching.scanning import list_nodes
from infra.jobs.sql import COUNT_RECENT_RUNS
from infra.sharding.database_info import read_database_state
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import CachedProbe
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from infra.store_states import StoreState

CONNECTIONS = """
SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity
WHERE datname = current_database()
"""
REDIS_GAUGES = {
    "tideline_redis_memory_bytes": ("used_memory", "Memory that Redis uses, all nodes together"),
    "tideline_redis_max_memory_bytes": ("maxmemory", "Memory that Redis may use; 0: all"),
    "tideline_redis_clients": ("connected_clients", "Connections to Redis"),
    "tideline_redis_evicted_keys": ("evicted_keys", "Keys evicted since Redis began"),
}


class ServerMetricsCollector(Collector):
    """Asks the servers at a scrape, at most every few seconds. Omits a server without an answer."""

    def __init__(self, probe: CachedProbe[Any] | None = None) -> None:
        self._probe = probe or CachedProbe()
        self._state_probe: CachedProbe[StoreState] = CachedProbe()

    def describe(self) -> Iterable[Metric]:
        """The names of the metrics; registering the collector asks no server."""
        return [*_redis_metrics([]), *_connection_metrics({}), _job_metrics([]), _states({})]

    def collect(self) -> Iterable[Metric]:
        calls = {alias: partial(fetch_all, alias, CONNECTIONS) for alias in all_aliases()}
        jobs = partial(fetch_all, GLOBAL_ALIAS, COUNT_RECENT_RUNS)
        answers = self._probe.ask({**calls, "redis": _fetch_redis_info, "jobs": jobs})
        yield from _redis_metrics(answers.pop("redis", []))
        yield _job_metrics(answers.pop("jobs", []))
        yield from _connection_metrics({alias: rows[0] for alias, rows in answers.items()})
        yield _states(self._read_states())

    def _read_states(self) -> dict[str, StoreState]:
        """A store without an answer hangs."""
        calls: dict[str, Callable[[], StoreState]] = {
            alias: partial(_read_database, alias) for alias in all_aliases()
        }
        calls["redis"] = read_redis_state
        return dict.fromkeys(calls, StoreState.HANGS) | self._state_probe.ask(calls)


def _fetch_redis_info() -> list[Mapping[str, Any]]:
    infos: list[Any] = [node.client.info() for node in list_nodes()]
    return infos


def _redis_metrics(infos: list[Mapping[str, Any]]) -> Iterable[Metric]:
    yield GaugeMetricFamily(
        "tideline_redis_up", "1 if Redis answered within a second", value=bool(infos)
    )
    for name, (field, text) in REDIS_GAUGES.items():
        family = GaugeMetricFamily(name, text)
        if infos:
            family.add_metric([], sum(info[field] for info in infos))
        yield family


def _connection_metrics(connections: Mapping[str, tuple[int, int]]) -> Iterable[Metric]:
    used, most = (
        GaugeMetricFamily("tideline_shard_connections", "Connections in use", labels=["shard"]),
        GaugeMetricFamily(
            "tideline_shard_max_connections", "Connections the server allows", labels=["shard"]
        ),
    )
    for alias, (count, limit) in connections.items():
        used.add_metric([alias], count)
        most.add_metric([alias], limit)
    return used, most


def _read_database(alias: str) -> StoreState:
    return read_database_state(alias).state


def _states(states: Mapping[str, StoreState]) -> Metric:
    text = "1 for the state that a database or Redis is in"
    family = GaugeMetricFamily("tideline_store_state", text, labels=["store", "state"])
    for store, state in states.items():
        family.add_metric([store, state.label], 1)
    return family


def _job_metrics(rows: Iterable[tuple[str, str, int]]) -> Metric:
    text = "Runs of commands that began within a day, dry runs not"
    family = GaugeMetricFamily("tideline_job_runs", text, labels=["job", "state"])
    for job, state, count in rows:
        family.add_metric([job, state], count)
    return family
