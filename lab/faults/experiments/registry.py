"""All experiments, in the order in which they run."""

from lab.faults.experiments.attachments import ATTACHMENTS
from lab.faults.experiments.crowds import CROWDS
from lab.faults.experiments.deployments import DEPLOYMENTS
from lab.faults.experiments.disks import DISKS
from lab.faults.experiments.elections import ELECTIONS
from lab.faults.experiments.encounters import ENCOUNTERS
from lab.faults.experiments.failpoints import FAILPOINTS
from lab.faults.experiments.feeds import FEEDS
from lab.faults.experiments.hangs import HANGS
from lab.faults.experiments.kills import KILL_EXPERIMENTS
from lab.faults.experiments.moves import MOVES
from lab.faults.experiments.poison import POISON
from lab.faults.experiments.redis_cluster import REDIS_CLUSTER
from lab.faults.experiments.redis_data import REDIS_DATA
from lab.faults.experiments.refusals import REFUSING
from lab.faults.experiments.repairs import REPAIRS
from lab.faults.experiments.sessions import SESSIONS
from lab.faults.experiments.slow_places import SLOW_PLACES
from lab.faults.experiments.stream_rights import STREAM_RIGHTS
from lab.faults.experiments.streams import STREAMS
from lab.faults.experiments.versions import VERSIONS
from lab.faults.experiments.workers import WORKERS

EXPERIMENTS = [
    *HANGS,
    *KILL_EXPERIMENTS,
    *WORKERS,
    *REDIS_DATA,
    *REFUSING,
    *REDIS_CLUSTER,
    *FAILPOINTS,
    *ATTACHMENTS,
    *SLOW_PLACES,
    *SESSIONS,
    *DISKS,
    *CROWDS,
    *DEPLOYMENTS,
    *REPAIRS,
    *VERSIONS,
    *ENCOUNTERS,
    *POISON,
    *FEEDS,
    *STREAMS,
    *STREAM_RIGHTS,
    *MOVES,
    *ELECTIONS,
]
