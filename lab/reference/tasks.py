"""Periodic tasks: how often each runs, where, what it costs and does."""

from config.periodic import PERIODIC_TASKS
from infra.sharding.placement import Placement
from lab.reference.tables import table

DATABASES = {
    Placement.SHARDED: "each shard",
    Placement.GLOBAL: "default",
    Placement.REPLICATED: "each shard",
    Placement.EVERYWHERE: "each database",
}


def task_rows() -> str:
    rows = [
        f"| `{task.name}` | {task.period_s:g} s | {DATABASES[task.placement]} | {task.cost}"
        f" | {task.does} |"
        for task in PERIODIC_TASKS
    ]
    return table("| task | every | on | cost | what it does |", rows)
