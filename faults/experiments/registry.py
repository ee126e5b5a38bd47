"""All experiments, in the order in which they run."""

from faults.experiments.failpoints import FAILPOINTS
from faults.experiments.hangs import HANGS
from faults.experiments.kills import KILL_EXPERIMENTS
from faults.experiments.redis_data import REDIS_DATA
from faults.experiments.versions import VERSIONS

EXPERIMENTS = [*HANGS, *KILL_EXPERIMENTS, *REDIS_DATA, *FAILPOINTS, *VERSIONS]
