"""All experiments, in the order in which they run."""

from faults.experiments.attachments import ATTACHMENTS
from faults.experiments.crowds import CROWDS
from faults.experiments.deployments import DEPLOYMENTS
from faults.experiments.disks import DISKS
from faults.experiments.encounters import ENCOUNTERS
from faults.experiments.failpoints import FAILPOINTS
from faults.experiments.hangs import HANGS
from faults.experiments.kills import KILL_EXPERIMENTS
from faults.experiments.poison import POISON
from faults.experiments.redis_data import REDIS_DATA
from faults.experiments.refusals import REFUSING
from faults.experiments.repairs import REPAIRS
from faults.experiments.sessions import SESSIONS
from faults.experiments.slow_places import SLOW_PLACES
from faults.experiments.versions import VERSIONS

EXPERIMENTS = [
    *HANGS,
    *KILL_EXPERIMENTS,
    *REDIS_DATA,
    *REFUSING,
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
]
