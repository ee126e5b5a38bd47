"""Workers on several machines: one hangs, one dies, and what replaces it is far away."""

import time
from signal import SIGKILL

from config.constants import CHUNK_FOLLOWERS
from infra.changes.lease import LEASE_S
from lab.faults.cluster.cluster import DRAINERS, ClientAccount
from lab.faults.cluster.process import ArmedChild
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.slow_places import let_first_hold_all_lanes, lost_leases, sleeping
from lab.faults.experiments.types import Experiment
from lab.runner.programs import other_constants
from lab.runner.redis_cluster import wait_until

CALLS_PER_S = 40.0
DELAY_S = 0.03
FAR_S, WAKING_S, CONNECTED_WITHIN_S = 10.0, 6.0, 60.0
PLACE = "fan_out.pushed"  # slow there, a worker hangs and dies in the middle of a batch
THREE = ("drainer0", "drainer1", "drainer2")
# Below the number from which an account's posts are pulled and not pushed.
FOLLOWERS, POSTS = 70_000, 5
BESIDE_PER_S, DELIVERED_S = 10.0, 300.0
CHUNK = "fan_out.chunk_pushed"
# Each post is a fan-out in chunks of a few followers, so other workers get parts of it.
SMALL_CHUNKS = {"INLINE_FOLLOWERS": "2", **other_constants(CHUNK_FOLLOWERS=3)}


def _lose_workers(scene: Scene) -> None:
    """The first hangs with all leases, the second takes them over and dies, comes back far from its
    stores, and then the first wakes with a batch that others have delivered."""
    first, second = (scene.cluster.processes[name] for name in DRAINERS)
    before = lost_leases(scene)
    with scene.under_load(CALLS_PER_S), scene.broken():
        let_first_hold_all_lanes(scene, {PLACE: sleeping(0.3)})
        first.pause()
        time.sleep(LEASE_S + 3)
        second.kill()
        scene.check_happened(second.exit_code == -SIGKILL, f"{second.name} was killed")
        second.begin()
        slowed = _slow_down(scene, second.name)
        scene.check_happened(slowed > 0, "connections of the new one were slow", slowed)
        time.sleep(FAR_S)
        first.resume()
        time.sleep(WAKING_S)
        scene.cluster.links.open(f"{second.name}:*")
    lost = lost_leases(scene) - before
    scene.check_happened(lost > 0, f"{first.name} woke in a batch that was no longer its own", lost)
    scene.note(f"two workers lost: {scene.during(scene.spans[-1]).text()}")


def _slow_down(scene: Scene, name: str) -> int:
    """Once it has connected: its start would take too long. Returns how many ends it met."""
    end_s = time.monotonic() + CONNECTED_WITHIN_S
    while True:
        slowed = scene.cluster.links.open(f"{name}:*", delay_s=DELAY_S)
        if slowed or time.monotonic() > end_s:
            return slowed
        scene.cluster.links.open(f"{name}:*")
        time.sleep(0.5)


def _share_large_fan_outs(scene: Scene) -> None:
    """One worker hangs in the middle of the fan-outs, one is killed, one is far away all the time.
    A large account's chunks follow each other, so three accounts post at once."""
    stuck, killed, far = (scene.cluster.processes[name] for name in THREE)
    stars = _stars(scene)
    order = {"stars": [star.id for star in stars], "count": FOLLOWERS}
    scene.cluster.backstage.ask({"do": "make_crowd", "with": order})
    before = lost_leases(scene)
    clients = scene.make_load(stars, 1.0, {"post": 1}).sessions[: len(stars)]
    with scene.broken():
        with scene.under_load(BESIDE_PER_S):
            let_first_hold_all_lanes(scene, {"fan_out.page_pushed": sleeping(0.02)})
            slowed = _slow_down(scene, far.name)
            scene.check_happened(slowed > 0, "connections of one were slow", slowed)
            began_s = time.monotonic()
            posts = [client.post(str(n)).made for n in range(POSTS) for client in clients]
            _wait_for_chunk(stuck)
            stuck.pause()
            _wait_for_chunk(killed)
            killed.kill()
            waits = scene.cluster.count_undelivered()["pending"]
            scene.check_happened(waits > 0, "one was killed before all was delivered", waits)
            killed.begin()
            time.sleep(LEASE_S)
            stuck.resume()
            time.sleep(WAKING_S)
        wait_until(lambda: not any(scene.cluster.count_undelivered().values()), DELIVERED_S)
        took_s = time.monotonic() - began_s
    lost = lost_leases(scene) - before
    scene.check_happened(lost > 0, "one woke in a chunk that was no longer its own", lost)
    counts = scene.cluster.backstage.ask({"do": "count_entries", "with": {**order, "posts": posts}})
    pushes = FOLLOWERS * len(posts)
    scene.note(f"{pushes:,} entries for {FOLLOWERS:,} readers within {took_s:.0f} s: {counts}")
    chunks = {p.name: p.log.read_text().count(CHUNK) for p in (stuck, killed, far)}
    scene.note(f"chunks: {chunks}")
    scene.check(all(chunks.values()), "all three pushed chunks", chunks)
    scene.check(not counts["lost"], "no entry is lost", counts)
    # Each of the two lost workers may have had a chunk of each account in hand.
    again = counts["repeated"] <= 2 * len(stars) * CHUNK_FOLLOWERS
    scene.check(again, "only chunks that lost workers had in hand are pushed again", counts)
    scene.cluster.backstage.ask({"do": "end_crowd", "with": order})


def _stars(scene: Scene) -> list[ClientAccount]:
    """Three accounts on three shards."""
    by_shard = {person.alias: person for person in scene.cluster.make_people(24)}
    return list(by_shard.values())[: len(THREE)]


def _wait_for_chunk(worker: ArmedChild) -> None:
    """Until it has pushed one more, so that it is in the middle of the next one."""
    before = worker.log.read_text().count(CHUNK)
    wait_until(lambda: worker.log.read_text().count(CHUNK) > before, DELIVERED_S)


WORKERS = [
    Experiment(
        "F46",
        "a worker hangs past its leases, one is killed and comes back far away",
        _lose_workers,
        settings=SMALL_CHUNKS,
    ),
    Experiment(
        "F49",
        "three workers share large fan-outs: one hangs, one is killed, one is far away",
        _share_large_fan_outs,
        drainers=THREE,
    ),
]
