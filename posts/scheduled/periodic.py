"""The periodic task of scheduled posts."""

from infra.clock import now_ms
from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from posts.scheduled.actions.publish_due import publish_due

COST = "one query by index; about six short statements for each post that is due, at most 50"


def _publish_due(alias: str) -> int:
    return publish_due(alias, now_ms())


PERIODIC_TASKS = (
    PeriodicTask(
        "publish_due",
        2,
        Placement.SHARDED,
        COST,
        "Publishes [scheduled posts](api.md#scheduled-posts).",
        _publish_due,
    ),
)
