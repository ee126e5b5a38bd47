"""A Redis Cluster of six: a primary dies, slots move, an old primary does not know that it is old.

Which primary it is, the seed says.
"""

import random
import time
from collections.abc import Callable

from lab.faults.cluster.redis_nodes import PRIMARIES, RedisNodes
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span
from lab.runner.redis_cluster import SLOTS, PortRedis, wait_until

# Without a node the shards give every page, at many times the cost. 40 a second are more than two
# slow cores can do: requests were refused by the queue, and not because a node was away.
CALLS_PER_S = 15.0
IDLE_S, AWAY_S, AFTER_S = 6.0, 12.0, 8.0
REFUSED_SHARE, REFUSED_FOR_S = 0.005, 5.0
MOVED_SLOTS, MOVES = 1_500, 4
BEHIND_S = 1.5  # of writes that the replica does not get


def _nodes(scene: Scene) -> RedisNodes:
    assert scene.cluster.redis_nodes is not None
    return scene.cluster.redis_nodes


def _drawn_pair(scene: Scene) -> tuple[PortRedis, PortRedis]:
    """A primary and its replica."""
    number = random.Random(scene.seed).randrange(PRIMARIES)
    scene.note(f"primary {number} of {PRIMARIES}")
    return _nodes(scene).pair(number)


def _lose(scene: Scene, lose: Callable[[PortRedis, PortRedis], float]) -> None:
    """`lose` takes a primary away, returns when, and waits until its replica is promoted. Then all
    is healed."""
    primary, replica = _drawn_pair(scene)
    with scene.watching_live(), scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        with scene.broken():
            lost_s = lose(primary, replica)
            scene.check_happened(replica.is_primary(), "the replica was promoted")
            time.sleep(AWAY_S)
            _nodes(scene).heal()
        time.sleep(AFTER_S)
    _check_refusals(scene, lost_s)


def _kill(primary: PortRedis, replica: PortRedis) -> float:
    primary.kill()
    return _wait_for(replica)


def _wait_for(replica: PortRedis) -> float:
    began_s = time.monotonic()
    wait_until(replica.is_primary)
    return began_s


def _check_refusals(scene: Scene, began_s: float) -> None:
    """Few calls fail, all of them with 503, and only in the first seconds."""
    impact = scene.during(Span(began_s, time.monotonic()))
    scene.note(f"from the fault on: {impact.text()}")
    ends = [t.ended_s for t in scene.load.timings if t.is_error and t.began_s >= began_s]
    last_s = max(ends, default=began_s) - began_s
    share = impact.error_count / max(impact.calls, 1)
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)
    scene.check(share <= REFUSED_SHARE, "at most 0.5 % of the calls are refused", f"{share:.2%}")
    scene.check(last_s <= REFUSED_FOR_S, "the last refusal is within 5 s", f"{last_s:.1f} s")


def _kill_primary(scene: Scene) -> None:
    _lose(scene, _kill)


def _move_slots(scene: Scene) -> None:
    """There and back, each time between two other nodes."""
    servers = _nodes(scene).servers[:PRIMARIES]
    with scene.under_load(CALLS_PER_S):
        time.sleep(IDLE_S)
        began_s = time.monotonic()
        for number in range(MOVES):
            source, target = servers[number % PRIMARIES], servers[(number + 1) % PRIMARIES]
            first = number % PRIMARIES * (SLOTS // PRIMARIES + 1)
            slots = first, first + MOVED_SLOTS - 1
            for move in ((source, target), (target, source)):
                _move(scene, *move, *slots)
                time.sleep(1.0)
        span = Span(began_s, time.monotonic())
        time.sleep(AFTER_S)
    impact = scene.during(span)
    scene.note(f"{2 * MOVES} moves of {MOVED_SLOTS} slots: {impact.text()}")
    scene.check_no_errors(impact.errors)


def _move(scene: Scene, source: PortRedis, target: PortRedis, first: int, last: int) -> None:
    source.move_slots(target, first, last)
    scene.check_happened(target.has_slot(last), "slots have moved")


def _empty_promoted(scene: Scene) -> None:
    """The replica lacks the last writes. It is promoted, and its slots move to another node before
    a process has noticed that it is another server run."""
    others = _nodes(scene).servers[:PRIMARIES]

    def lose(primary: PortRedis, replica: PortRedis) -> float:
        first, last = primary.slots()
        replica.refuse_primary()
        time.sleep(BEHIND_S)
        began_s = _kill(primary, replica)
        target = next(server for server in others if server is not primary)
        replica.follow_primary()  # it would refuse the other node too
        replica.move_slots(target, first, last - 1)  # without any slot it would be a replica again
        return began_s

    _lose(scene, lose)


def _cut_off(scene: Scene) -> None:
    """No other node reaches it, and all clients do, until it finds itself alone."""

    def lose(primary: PortRedis, replica: PortRedis) -> float:
        replica.refuse_primary()
        scene.check_happened(_nodes(scene).cut_off(primary) > 0, "links of nodes were cut")
        return _wait_for(replica)

    _lose(scene, lose)


def _wake_old_primary(scene: Scene) -> None:
    """It hangs until its replica is promoted, and wakes as one that was never away."""

    def lose(primary: PortRedis, replica: PortRedis) -> float:
        replica.refuse_primary()
        time.sleep(BEHIND_S)
        primary.pause()
        began_s = _wait_for(replica)
        primary.resume()
        return began_s

    _lose(scene, lose)


REDIS_CLUSTER = [
    Experiment(number, title, run, on_redis_cluster=True)
    for number, title, run in (
        ("F48a", "a primary of a Redis Cluster is killed", _kill_primary),
        ("F48b", "slots of a Redis Cluster move", _move_slots),
        ("F48c", "slots leave a promoted node that lacks writes", _empty_promoted),
        ("F48d", "a primary is cut off from the others and goes on", _cut_off),
        ("F48e", "a primary hangs and wakes as an old one", _wake_old_primary),
    )
]
