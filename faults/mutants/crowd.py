"""The experiments of mutants that need no fault: many clients of a few accounts, all at once."""

import time

from faults.experiments.scene import Scene
from faults.experiments.types import Experiment
from faults.load.load import Load

ACCOUNTS, CLIENTS_EACH = 8, 4
CALLS_PER_S, SECONDS = 90.0, 8.0
# Clients go on polling, so that a post that is late is not taken for a lost one.
QUIET_CALLS_PER_S, QUIET_S = 12.0, 14.0
WEIGHTS = {
    "home": 20, "poll": 12, "page": 8, "post": 12, "repost": 8, "unrepost": 5, "delete": 5,
    "follow": 14, "unfollow": 6, "block": 2, "unblock": 3, "mute": 2, "unmute": 2,
    "relationship": 8, "counts": 4,
}  # fmt: skip


def _crowd(scene: Scene) -> None:
    """Several clients write for the same account, so acts on one pair and one post meet."""
    people = [*scene.accounts[:ACCOUNTS]] * CLIENTS_EACH
    crowd = Load(people, scene.balancer, scene.seed, CALLS_PER_S, WEIGHTS)
    for session in crowd.sessions:
        session.client += len(scene.load.sessions)
    with crowd.running():
        time.sleep(SECONDS)
        crowd.calls_per_s = QUIET_CALLS_PER_S
        time.sleep(QUIET_S)
    scene.load.sessions.extend(crowd.sessions)


CROWD = Experiment("M1", "many clients act for the same few accounts", _crowd)
