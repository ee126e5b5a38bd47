"""Processes that are slow at a named place, so that others overtake them there."""

import time
from collections.abc import Sequence

from infra.changes.lease import LEASE_S
from lab.faults.cluster.cluster import DRAINERS, WEBS
from lab.faults.cluster.process import Armed
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.promises import Span

CALLS_PER_S = 40.0
SLOW_S = 12.0
SLEEP_S = 0.3
# Half of the posts are deleted a moment after they were written.
DELETES = {"home": 10, "poll": 30, "post": 30, "delete": 28}
GONE_WITHIN_S = 60.0
# An ordinary page would show what a poll leaves out.
ONLY_POLLS = {"poll": 60, "post": 40}
SHARERS = 8
# Longer than what was slow takes to be due, and than a poll may then still leave it out.
POLLED_ON_S, POLLS_PER_S = 25.0, 20.0
FLUSHES, CUTS = 15, 8
FAN_OUT = ("fan_out.indexed", "fan_out.pushed")
LOADERS = ("relations.list_read", "relationships.read", "posts.weeks_read", "rebuild.computed")


def _slow_fan_out(scene: Scene) -> None:
    """Accounts unfollow, follow again and delete while a post of theirs is on its way."""
    with scene.under_load(CALLS_PER_S):
        _deliver_slowly(scene)
    scene.note(f"slow deliveries: {scene.during(scene.spans[-1]).text()}")


def _delete_in_fan_out(scene: Scene) -> None:
    """Most posts are deleted while they are on their way. The history shows what readers saw."""
    load = scene.make_load(scene.accounts, CALLS_PER_S, DELETES)
    with load.running():
        _deliver_slowly(scene)
    scene.judge_too(load)
    _check_rows_go(scene)


def _deliver_slowly(scene: Scene) -> None:
    with scene.broken():
        restart(scene, DRAINERS, {place: sleeping(SLEEP_S) for place in FAN_OUT})
        time.sleep(SLOW_S)
        restart(scene, DRAINERS, {})
    scene.check_armed(*FAN_OUT)


def _check_rows_go(scene: Scene) -> None:
    """No index of recent posts may have a row of a deleted post for long."""
    posted_s = {call.made: call.ended_s for call in scene.load.calls if call.kind == "post"}
    deletes = [c for c in scene.load.calls if c.kind == "delete" and c.outcome == "ok"]
    soon = sum(call.began_s - posted_s[call.target] < 2 * SLEEP_S for call in deletes)
    scene.note(f"{len(deletes)} deletes, {soon} of them within {2 * SLEEP_S:g} s of the post")
    scene.check(soon > 0, "some deletes overtake the fan-out", soon)
    left = _wait_for_rows_to_go(scene, [call.target for call in deletes if call.target])
    within = f"{GONE_WITHIN_S:.0f} s"
    scene.check(not left, f"no row of a deleted post is left after {within}", left)


def _wait_for_rows_to_go(scene: Scene, posts: list[int]) -> dict[str, int]:
    """The rows of these posts that are left, by shard; no shard when none is."""
    end_s = time.monotonic() + GONE_WITHIN_S
    while (left := scene.cluster.count_indexed(posts)) and time.monotonic() < end_s:
        time.sleep(0.2)
    return left


def _flush_in_loads(scene: Scene) -> None:
    """Redis is emptied while webs have read rows and have not yet written their entries."""
    restart(scene, WEBS, {place: sleeping(0.1) for place in LOADERS})
    with scene.under_load(CALLS_PER_S):
        time.sleep(2)
        began_s = time.monotonic()
        lost = [_flush(scene) for _ in range(FLUSHES)]
        span = Span(began_s, time.monotonic())
    restart(scene, WEBS, {})
    scene.check_armed(*LOADERS)
    scene.check_happened(all(lost), "each flush took keys away", lost)
    scene.note(f"{FLUSHES} flushes, slow loaders: {scene.during(span).text()}")


def _flush(scene: Scene) -> int:
    lost = scene.nemesis.flush()
    time.sleep(0.6)
    return lost


def _lose_redis_in_builds(scene: Scene) -> None:
    """Redis has begun to keep the pushes for a build, and is away when the build is stored."""
    restart(scene, WEBS, {"rebuild.computed": sleeping(0.1)})
    cut: list[int] = []
    with scene.under_load(0.75 * CALLS_PER_S):
        time.sleep(2)
        with scene.broken():
            for _ in range(CUTS):
                scene.nemesis.flush()
                time.sleep(0.1)
                cut.append(scene.cluster.links.cut("web*:redis"))
                time.sleep(0.3)
                scene.cluster.links.open("web*:redis")
                time.sleep(1.5)
    restart(scene, WEBS, {})
    scene.check_armed("rebuild.computed")
    scene.check_happened(any(cut), "connections to Redis were reset", cut)
    impact = scene.during(scene.spans[-1])
    scene.note(f"{CUTS} cuts, slow builds: {impact.text()}")
    scene.check(not impact.errors.keys() - {503}, "refusals are 503", impact.errors)


def _slow_drainers(scene: Scene, delay_s: float) -> None:
    """Each byte between drainers and their stores is late for a while."""
    slowed = scene.cluster.links.open("drainer*:*", delay_s=delay_s)
    time.sleep(SLOW_S)
    scene.cluster.links.open("drainer*:*")
    scene.check_happened(slowed > 0, "connections of drainers were slow", slowed)


def _delay_deliveries(scene: Scene) -> None:
    """Drainers reach their stores slowly, and clients poll: each post comes, once it is there."""
    with scene.under_load(CALLS_PER_S):
        with scene.broken():
            _slow_drainers(scene, 0.05)
        time.sleep(3)
    scene.note(f"drainers 50 ms from their stores: {scene.during(scene.spans[-1]).text()}")


def _poll_only(scene: Scene) -> None:
    """Drainers are slow, and all clients only post and poll. Each sees its own posts at once, so
    posts of others come late, below its cursor. Nothing but a poll brings them. Some clients share
    their token with another one, which also uses since_id and reads ordinary pages."""
    load = scene.make_load(scene.accounts, CALLS_PER_S, ONLY_POLLS, SHARERS)
    with load.running():
        with scene.broken():
            _slow_drainers(scene, 0.02)
        load.calls_per_s = POLLS_PER_S
        time.sleep(POLLED_ON_S)
    scene.judge_too(load)


def _deliver_twice(scene: Scene) -> None:
    """A drainer hangs in the middle of a batch until its leases end. The other one delivers the
    batch again, and then the first one goes on."""
    hung, before = scene.cluster.processes["drainer0"], lost_leases(scene)
    with scene.under_load(CALLS_PER_S), scene.broken():
        let_first_hold_all_lanes(scene, {"drain.before_filing": sleeping(1.0)})
        hung.pause()
        time.sleep(LEASE_S + 3)
        hung.resume()
        time.sleep(4)
        restart(scene, ["drainer0"], {})
    lost = lost_leases(scene) - before
    scene.note(f"a drainer lost its leases {lost} times")
    scene.check_happened(lost > 0, "both drainers deliver a batch", lost)


def let_first_hold_all_lanes(scene: Scene, armed: Armed) -> None:
    """The first drainer begins alone; the others find no lane that is free."""
    first, *others = (scene.cluster.processes[name] for name in scene.cluster.drainers)
    for process in (first, *others):
        process.stop()
    first.begin(armed=armed)
    time.sleep(4)
    for process in others:
        process.begin()
    scene.cluster.wait_for_drainers()


def lost_leases(scene: Scene) -> int:
    """How often the first drainer has noticed it, over all its starts."""
    return scene.cluster.processes[DRAINERS[0]].log.read_text().count("drainer.lease_lost")


def sleeping(seconds: float) -> dict[str, object]:
    return {"do": "sleep", "seconds": seconds, "times": 10**6}


def restart(scene: Scene, names: Sequence[str], armed: Armed) -> None:
    """One after the other, each with these failpoints."""
    for name in names:
        process = scene.cluster.processes[name]
        process.stop()
        process.begin(armed=armed)
        scene.cluster.wait_until_ready()
        scene.cluster.wait_for_drainers()


SLOW_PLACES = [
    Experiment("F12", "a drainer hangs until another one has its batch", _deliver_twice),
    Experiment("F21", "unfollow and follow again during a slow fan-out", _slow_fan_out),
    Experiment("F22", "delete during a slow fan-out", _delete_in_fan_out),
    Experiment("F36", "FLUSHALL between a loader's read and its write", _flush_in_loads),
    Experiment("F36b", "Redis is away when a built timeline is stored", _lose_redis_in_builds),
    Experiment("F37", "clients poll while deliveries are late", _delay_deliveries),
    Experiment("F37b", "clients only poll while deliveries are late", _poll_only),
]
