"""The state of the whole system, from all parts that answer in time."""

import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import django
from django.conf import settings
from django.utils.module_loading import import_string

from accounts.images.checks import read_published_file, try_store
from accounts.images.errors import ImagesUnavailable
from accounts.images.store import read_file
from counters.periodic import DRIFT
from infra.caching.redis_state import read_redis_state
from infra.caching.scanning import list_nodes
from infra.changes.lag import LAG, list_lane_lags
from infra.changes.metrics import count_by_group, oldest_by_group
from infra.changes.pausing import list_pauses
from infra.changes.running_drainers import list_drainers
from infra.jobs.models import JobRun
from infra.jobs.runs import mark_died_runs
from infra.processes.reporter import find_differences, list_processes
from infra.sharding.database_info import read_database_info, read_database_state
from infra.sharding.partitions import oldest_days
from infra.sharding.placement import known_shards
from infra.sharding.probe import ProbeAnswer, probe_all
from infra.sharding.readiness import require_ready
from infra.sharding.shards import all_aliases
from infra.store_states import StoreState
from timelines.sampling import HOLES

PATIENCE_S = 1.5
MOST_FAILURES = 5
FAILED_WITHIN = timedelta(days=1)
PARTS = ("redis", "images", "workers", "samples", "jobs")
BAD = (JobRun.State.FAILED, JobRun.State.DIED)

Part = dict[str, Any]


def read_status(now: datetime, patience_s: float = PATIENCE_S) -> Part:
    """The state as plain JSON. A part that does not answer is `{"is_up": false, "why": …}`, and so
    is a database that is the wrong one or lacks a migration.

    A store that fails raises nothing. Cost: a dozen short statements per database, in parallel;
    `patience_s` at most.
    """
    calls: dict[str, Callable[[], Part]] = {
        alias: partial(_read_database, alias) for alias in all_aliases()
    }
    calls |= {
        "redis": _read_redis,
        "images": _read_images,
        "workers": _read_workers,
        "samples": partial(_read_samples, now.timestamp()),
        "jobs": partial(_read_jobs, now),
    }
    parts = {name: _part(answer) for name, answer in probe_all(calls, patience_s).items()}
    databases = {alias: parts.pop(alias) for alias in all_aliases()}
    _name_redis(parts)
    always = {"at": now.isoformat(), "versions": _versions(), "periodic_tasks": _periodic_tasks()}
    return {**always, "databases": databases, **parts}


def list_down(status: Part) -> list[str]:
    """Names of what is down or takes no writes: databases, Redis, images, parts without answers,
    missing processes.
    """
    parts = {**status["databases"], **{name: status[name] for name in PARTS}}
    down = [name for name, part in parts.items() if not part["is_up"] or _refuses(part)]
    if parts["workers"]["is_up"] and not parts["workers"]["names"]:
        down.append("workers")
    differences = parts["workers"].get("differences", ())
    down += [f"processes: {each['fact']}" for each in differences if each["is_fault"]]
    if parts["samples"]["is_up"] and not parts["samples"]["compensated_s"]:
        down.append("compensator")
    return down


def _name_redis(parts: dict[str, Part]) -> None:
    """Workers and samples report to Redis. Their parts say what is wrong with it."""
    redis = parts["redis"]
    if _refuses(redis):
        for name in ("workers", "samples"):
            parts[name] = {"is_up": False, "why": f"Redis {redis['state']}"}


def _refuses(part: Part) -> bool:
    return not StoreState(part.get("state", StoreState.OK)).is_usable


def _periodic_tasks() -> list[Part]:
    """All tasks. Each compensator knows only in memory when it ran them last."""
    return [
        {
            "name": task.name,
            "period_s": task.period_s,
            "placement": task.placement.value,
            "cost": task.cost,
        }
        for task in import_string(settings.PERIODIC_TASKS)
    ]


def _part(answer: ProbeAnswer) -> Part:
    if answer.error:
        return {"is_up": False, "why": answer.why}
    return {"is_up": True, **answer.value}


def _versions() -> Mapping[str, str]:
    tideline = str(settings.SPECTACULAR_SETTINGS["VERSION"])
    return {"tideline": tideline, "python": platform.python_version(), "django": django.__version__}


def _read_database(alias: str) -> Part:
    require_ready(alias)
    store_state = read_database_state(alias).state.value
    facts, lags = read_database_info(alias)._asdict(), list_lane_lags(alias)
    changes: dict[str, Part] = {}
    for (group, state), count in count_by_group(lags).items():
        changes.setdefault(group, {})[state] = count
    for group, seconds in oldest_by_group(lags).items():
        changes[group]["oldest_s"] = round(seconds, 1)
    paused = [{"kind": pause.kind, "reason": pause.reason} for pause in list_pauses(alias)]
    kept = {table: day.isoformat() for table, day in oldest_days(alias).items()}
    return {
        **facts,
        "state": store_state,
        "changes": changes,
        "paused_kinds": paused,
        "kept_from": kept,
    }


def _read_redis() -> Part:
    """Sums over all nodes; the version of the first node."""
    infos: list[Any] = [node.client.info() for node in list_nodes()]
    names = {
        "memory_bytes": "used_memory",
        "most_memory_bytes": "maxmemory",
        "client_count": "connected_clients",
        "evicted_count": "evicted_keys",
    }
    sums = {name: sum(info[field] for info in infos) for name, field in names.items()}
    facts = {"version": infos[0]["redis_version"], "node_count": len(infos), **sums}
    return {**facts, "state": read_redis_state().value}


def _read_images() -> Part:
    """Tries the store; behind a proxy or with a bucket also whether readers get the file."""
    is_read = bool(settings.TRUSTED_PROXIES or settings.MEDIA_BUCKET)
    try:
        try_store((read_file, read_published_file) if is_read else (read_file,))
    except ImagesUnavailable as error:
        return {"is_up": False, "why": error.why}
    where = settings.MEDIA_BUCKET or settings.MEDIA_DIR
    return {"where": where, "read_at": settings.MEDIA_URL if is_read else None}


def _read_workers() -> Part:
    """The drainers that reported lately, and what differs between all processes."""
    processes = list_processes()
    differences = [
        each._asdict() | {"is_fault": each.is_fault, "text": str(each)}
        for each in find_differences(processes)
    ]
    return {
        "names": list_drainers(),
        "process_count": len(processes),
        "differences": differences,
    }


def _read_samples(now_s: float) -> Part:
    """Results of the compensators' samples, and the age of each database's last report."""
    drift, holes = DRIFT.read(known_shards()), HOLES.read(known_shards())
    reports = LAG.read(all_aliases())
    return {
        "compensated_s": {
            alias: round(now_s - report.at_s, 1) for alias, report in reports.items()
        },
        "drift": {alias: sum(drift_report.wrong.values()) for alias, drift_report in drift.items()},
        "holes": {alias: sum(hole.wrong.values()) for alias, hole in holes.items()},
    }


def _read_jobs(now: datetime) -> Part:
    mark_died_runs()
    going = JobRun.objects.filter(state=JobRun.State.RUNNING).order_by("id")
    failed = JobRun.objects.filter(state__in=BAD, started_at__gte=now - FAILED_WITHIN)
    return {
        "running": [_run(run) for run in going],
        "failed": [_run(run) for run in failed.order_by("-started_at")[:MOST_FAILURES]],
    }


def _run(run: JobRun) -> Part:
    begun = run.started_at.astimezone(UTC).isoformat(timespec="seconds")
    counts = {"done": run.done, "failed": run.failed}
    names = {"id": run.pk, "job": run.job, "flags": run.flags, "state": run.state}
    return {**names, **counts, "started_at": begun, "error": run.error.partition("\n")[0]}
