"""Clients that meet: many of the same few accounts, all at the same moment, all at one account."""

import random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from lab.faults.cluster.cluster import WEBS
from lab.faults.cluster.process import Armed
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.calls import Kind
from lab.faults.load.load import Load
from lab.faults.load.session import Session

# An odd number, so that the clients of an account are on both webs.
ACCOUNTS, CLIENTS_EACH = 9, 4
CALLS_PER_S, SECONDS = 90.0, 8.0
# Clients go on polling, so that a post that is late is not taken for a lost one.
QUIET_CALLS_PER_S, QUIET_S = 12.0, 14.0
WEIGHTS = {
    "home": 20, "poll": 12, "page": 8, "post": 12, "repost": 8, "unrepost": 5, "delete": 5,
    "follow": 14, "unfollow": 6, "block": 2, "unblock": 3, "mute": 2, "unmute": 2,
    "relationship": 8, "counts": 4,
}  # fmt: skip
ROUNDS_S = 15.0
RELATIONS: Sequence[Kind] = ("follow", "unfollow", "follow", "unfollow", "block", "unblock")
HOT_ROUNDS = 6
RUSHED: Sequence[Kind] = ("unfollow", "follow")
# Much longer than a request and a delivery.
BEHIND_S = 0.5


def _crowd(scene: Scene) -> None:
    """Several clients write for the same account, so acts on one pair and one post meet."""
    crowd = _make_crowd(scene)
    with crowd.running():
        time.sleep(SECONDS)
        crowd.calls_per_s = QUIET_CALLS_PER_S
        time.sleep(QUIET_S)
    scene.judge_too(crowd)


def _duels(scene: Scene) -> None:
    crowd = _make_crowd(scene)
    scene.judge_too(crowd)
    _fight(scene, crowd)


def _fight(scene: Scene, crowd: Load) -> None:
    """All clients of two accounts act on the two accounts at the same moment, again and again."""
    rng, end_s = random.Random(scene.seed), time.monotonic() + ROUNDS_S
    while time.monotonic() < end_s:
        first, other = rng.sample(range(ACCOUNTS), 2)
        acts: list[tuple[Session, Kind, int]] = [
            (session, rng.choice(RELATIONS), scene.accounts[target].id)
            for actor, target in ((first, other), (other, first))
            for session in crowd.sessions[actor::ACCOUNTS]
        ]
        _at_once(acts)


def _duels_with_a_slow_web(scene: Scene) -> None:
    """One web waits after each commit. When it mirrors an edge or refreshes a cache, the other web
    and the drain have often done so with a newer state."""
    slow, quick = WEBS
    waits = {"do": "sleep", "seconds": BEHIND_S, "times": 10**6}
    _restart_webs(scene, {slow: {"changes.committed": waits}, quick: {}})
    crowd = _make_crowd(scene)
    scene.judge_too(crowd)
    _fight(scene, crowd)
    _follow_apart(scene, crowd)
    _restart_webs(scene, {slow: {}})
    scene.check_armed("changes.committed")


def _follow_apart(scene: Scene, crowd: Load) -> None:
    """All clients of an account follow others at the same moment. These do nothing, so no act of
    theirs refreshes what is cached of the account."""
    strangers = scene.accounts[ACCOUNTS:]
    for number in range(ACCOUNTS):
        clients = crowd.sessions[number::ACCOUNTS]
        _at_once(
            (client, "follow", two.id) for client, two in zip(clients, strangers, strict=False)
        )


def _rush(scene: Scene) -> None:
    for _ in range(HOT_ROUNDS):
        rush_once(scene)


def rush_once(scene: Scene) -> None:
    """All accounts follow and unfollow one account, and repost its post: its counts are hot."""
    target, *others = scene.load.sessions[: len(scene.accounts)]
    post = target.post("the post of all").made
    for kind in RUSHED:
        _at_once((other, kind, target.person.id) for other in others)
    if post is not None:
        _at_once((other, "repost", post) for other in others)
        _at_once((other, "unrepost", post) for other in others)


def _at_once(acts: Iterable[tuple[Session, Kind, int]]) -> None:
    """Each session does its act, all at the same moment."""
    chosen = list(acts)
    barrier = threading.Barrier(len(chosen))
    with ThreadPoolExecutor(len(chosen)) as pool:
        for done in [pool.submit(_act, barrier, *act) for act in chosen]:
            done.result()


def _act(barrier: threading.Barrier, session: Session, kind: Kind, target: int) -> None:
    barrier.wait()
    if kind in ("repost", "unrepost"):
        session.respond(kind, target)
    else:
        session.relate(kind, target)


def _restart_webs(scene: Scene, armed_by_name: Mapping[str, Armed]) -> None:
    for name, armed in armed_by_name.items():
        scene.cluster.processes[name].stop()
        scene.cluster.processes[name].begin(armed=armed)
    scene.cluster.wait_until_ready()


def _make_crowd(scene: Scene) -> Load:
    return scene.make_load(scene.accounts[:ACCOUNTS] * CLIENTS_EACH, CALLS_PER_S, WEIGHTS)


ENCOUNTERS = [
    Experiment(
        "F18", "all clients of two accounts act on each other at once", _duels, has_fault=False
    ),
    Experiment(
        "F18c", "two accounts act on each other, and one web is slow", _duels_with_a_slow_web
    ),
    Experiment("F19a", "many clients act for the same few accounts", _crowd, has_fault=False),
    Experiment(
        "F19b", "all accounts act on one account and one post at once", _rush, has_fault=False
    ),
]
