"""The periodic tasks of operations: samples for the charts, and the pulse of each shard."""

from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from infra.sharding.pulse import take_pulse
from operations.day import POINT_S, write_point
from operations.samples import SLOT_S, sample_database, sample_fleet

# Twice a slot: compensators run tasks late rather than early, and no slot may be left out.
PERIOD_S = SLOT_S / 2
PULSE_S = 5

PERIODIC_TASKS = (
    PeriodicTask(
        "sample_database",
        PERIOD_S,
        Placement.EVERYWHERE,
        "one query, two round trips to Redis",
        "Takes a sample of each database for the operators' charts.",
        sample_database,
    ),
    PeriodicTask(
        "sample_fleet",
        PERIOD_S,
        Placement.GLOBAL,
        "one round trip to each Redis node, and two more",
        (
            "Takes a sample of Redis, of the caches and of the requests for the operators' charts "
            "and the admin's first page."
        ),
        sample_fleet,
    ),
    PeriodicTask(
        "write_point",
        POINT_S / 2,
        Placement.GLOBAL,
        "two round trips to Redis",
        (
            "Writes the highest values of five minutes, for the curves of a day on the admin's "
            "first page."
        ),
        write_point,
    ),
    PeriodicTask(
        "take_pulse",
        PULSE_S,
        Placement.SHARDED,
        "two short statements, and two on the default database",
        (
            "Notices a shard that came back [without its last "
            "writes](../how-to/lose-a-database-server.md#without-a-synchronous-standby)."
        ),
        take_pulse,
    ),
)
