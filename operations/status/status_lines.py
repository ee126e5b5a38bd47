"""The state of the system as lines of text. Pure."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from infra.store_states import StoreState

WIDTH = 100
STATES = ("pending", "parked", "paused")
Part = dict[str, Any]


def format_status(status: Part) -> Iterator[str]:
    """One screen: databases, changes, Redis, images, workers, samples, periodic tasks, jobs."""
    versions = ", ".join(f"{name} {version}" for name, version in status["versions"].items())
    yield f"{status['at'][:19]}  {versions}"
    yield ""
    yield "databases"
    for alias, database in status["databases"].items():
        yield f"  {alias:<9} {_database(database)}"
    yield "changes"
    yield from _changes(status["databases"])
    yield f"kept        {_kept(status['databases'])}"
    yield f"redis       {_redis(status['redis'])}"
    yield f"images      {_images(status['images'])}"
    yield f"workers     {_workers(status['workers'])}"
    yield from _samples(status["samples"])
    yield from _periodic_tasks(status["periodic_tasks"])
    yield from _jobs(status["jobs"])


def _database(part: Part) -> str:
    if not part["is_up"]:
        return f"DOWN: {part['why']}"
    accounts = "" if part["account_count"] is None else f", {part['account_count']:,} accounts"
    replicas = "".join(f"; {alias} {state}" for alias, state in part["replicas"].items())
    size = f"{part['size_bytes'] / 1e6:,.0f} MB"
    used = f"{part['connection_count']} of {part['most_connections']} connections"
    return (
        f"{_state(part)}, PostgreSQL {part['server_version']}, {size}, {used}{accounts}{replicas}"
    )


def _state(part: Part) -> str:
    """`up`, or in capitals that it takes no writes, and why."""
    state = StoreState(part["state"])
    if state == StoreState.OK:
        return "up"
    return (
        state.value.replace("refuses writes", "REFUSES WRITES")
        if state.refuses_writes
        else state.value.upper()
    )


def _changes(databases: dict[str, Part]) -> Iterator[str]:
    for alias, part in databases.items():
        for group, group_counts in part.get("changes", {}).items():
            if any(group_counts[state] for state in STATES):
                counts = ", ".join(f"{group_counts[state]:,} {state}" for state in STATES)
                yield f"  {alias:<9} {group}: {counts}, oldest {group_counts['oldest_s']:,} s"
        for paused in part.get("paused_kinds", []):
            yield f"  {alias:<9} {paused['kind']} is paused: {paused['reason']}"
        if not part["is_up"]:
            yield f"  {alias:<9} unknown"
    yield "  no others"


def _kept(databases: dict[str, Part]) -> str:
    """The oldest day of each table that drops old days, over all databases."""
    kept_from = [item for part in databases.values() for item in part.get("kept_from", {}).items()]
    oldest = {table: min(day for name, day in kept_from if name == table) for table, _ in kept_from}
    return ", ".join(f"{table} from {day}" for table, day in sorted(oldest.items())) or "unknown"


def _redis(part: Part) -> str:
    if not part["is_up"]:
        return f"DOWN: {part['why']}"
    most = f" of {part['most_memory_bytes'] / 1e6:,.0f}" if part["most_memory_bytes"] else ""
    nodes = f"{part['node_count']} nodes, " if part["node_count"] > 1 else ""
    memory = f"{part['memory_bytes'] / 1e6:,.1f}{most} MB"
    clients = f"{part['client_count']} clients, {part['evicted_count']:,} keys evicted"
    return f"{_state(part)}, {nodes}{part['version']}, {memory}, {clients}"


def _images(part: Part) -> str:
    if not part["is_up"]:
        return f"DOWN: {part['why']}"
    read = f", read at {part['read_at']}" if part["read_at"] else ""
    return f"up, in {part['where']}{read}"


def _workers(part: Part) -> str:
    if not part["is_up"]:
        return f"unknown: {part['why']}"
    names = ", ".join(part["names"]) or "NONE answered"
    differences = "".join(f"; DIFFERS: {each['text']}" for each in part["differences"])
    return f"{names}{differences or ('; all processes agree' if part['process_count'] else '')}"


def _samples(part: Part) -> Iterator[str]:
    if not part["is_up"]:
        yield f"compensator unknown: {part['why']}"
        return
    ages = part["compensated_s"].values()
    seen = f"{max(ages):,} s ago at the longest" if ages else "NOT SEEN in the last minute"
    yield f"compensator {seen}"
    for name, what in (("drift", "counts off"), ("holes", "entries missing")):
        parts = [f"{alias} {count:,}" for alias, count in part[name].items() if count]
        none = "none" if part[name] else "not sampled"
        yield f"{name:<11} {f'{what}: ' if parts else ''}{', '.join(parts) or none}"


def _periodic_tasks(tasks: list[Part]) -> Iterator[str]:
    names = ", ".join(f"{task['name']} {task['period_s']:g} s" for task in tasks)
    yield from wrap(f"periodic    every {names}", WIDTH, subsequent_indent=" " * 12)


def _jobs(part: Part) -> Iterator[str]:
    if not part["is_up"]:
        yield f"jobs        unknown: {part['why']}"
        return
    for run in part["running"]:
        yield f"running     {run['job']} {run['flags']} since {run['started_at']}, {run['done']:,}"
    for run in part["failed"]:
        why = run["error"] or f"{run['failed']:,} rows failed"
        yield f"{run['state']:<11} {run['job']} {run['flags']} at {run['started_at']}: {why}"
    if not part["running"] and not part["failed"]:
        yield "jobs        none running, none failed since yesterday"
