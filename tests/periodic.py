"""Runs periodic tasks of the registry as a compensator does."""

from collections.abc import Sequence

from config.periodic import PERIODIC_TASKS
from infra.changes.errors import UNREACHABLE
from infra.jobs.periodic import PeriodicRunner


def run_task(name: str, aliases: Sequence[str]) -> None:
    """Runs one task on those of the databases that its placement allows; errors are logged."""
    [task] = (task for task in PERIODIC_TASKS if task.name == name)
    PeriodicRunner([task], UNREACHABLE).run_due(aliases)
