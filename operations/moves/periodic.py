"""The periodic task of moves: none of them may stay closed because its process died."""

from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from operations.moves.interrupted import finish_interrupted_switch

PERIODIC_TASKS = (
    PeriodicTask(
        "finish_interrupted_switch",
        1,
        Placement.GLOBAL,
        "one query; two more during a move",
        (
            "Lets accounts write again if a [move](../how-to/move-buckets.md) was killed in the "
            "middle of its switch."
        ),
        finish_interrupted_switch,
    ),
)
