"""Open streams while their connections break and their process dies."""

import os
import time
from collections.abc import Iterable
from itertools import cycle
from signal import SIGKILL

from lab.faults.experiments.listeners import begin_of_posts, check_heard, make_listeners
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.load.stream import StreamClient, listening, wait_for
from lab.services.process_tree import process_tree

# Of the pieces in which a client reads an event, so that each fifth event is cut.
CUTS, LISTENERS, POSTS, MENTION_EACH = 0.02, 12, 150, 3
CALLS_PER_S, KILLED_EVERY_S, KILLS = 20.0, 4.0, 3
ONLY_POSTS = {"post": 1}
WORKER_BACK_S, BACK_WITHIN_S = 15.0, 60.0


def _cut_streams(scene: Scene) -> None:
    """Connections break in the middle of events. Every third post mentions a follower, so that some
    changes are two messages."""
    listeners = make_listeners(scene, scene.accounts[:LISTENERS], CUTS)
    clients = listeners.values()
    with scene.cluster.streaming(), listening(clients):
        above = begin_of_posts()
        with scene.broken():
            _post(scene)
        cut = sum(client.cut for client in clients)
        for client in clients:
            client.cuts = 0.0
        check_heard(scene, listeners, above, mentions=True)
    scene.check_happened(cut > 0, "connections broke in the middle of an event", cut)
    scene.note(f"{cut} events were cut in the middle")


def _post(scene: Scene) -> None:
    """Each account in turn. Who it mentions follows it and listens: see Load.settle."""
    people, sessions = scene.accounts, scene.load.sessions
    for number, turn in zip(range(POSTS), cycle(range(len(people))), strict=False):
        follower = people[turn - 1]
        text = f"@{follower.name} {number}" if number % MENTION_EACH == 0 else f"number {number}"
        sessions[turn].post(text)


def _kill_streams(scene: Scene) -> None:
    """kill -9 of the streaming process, and of its worker alone, while people post."""
    listeners = make_listeners(scene, scene.accounts)
    load = scene.make_load(scene.accounts, CALLS_PER_S, ONLY_POSTS)
    with scene.cluster.streaming(), listening(listeners.values()):
        above = begin_of_posts()
        with load.running(), scene.broken():
            for number in range(KILLS):
                time.sleep(KILLED_EVERY_S)
                before = [client.connections for client in listeners.values()]
                _kill_worker(scene) if number % 2 else _kill_all(scene)
                _wait_for_all(scene, listeners.values(), before)
            time.sleep(KILLED_EVERY_S)
        scene.judge_too(load)
        check_heard(scene, listeners, above)


def _wait_for_all(scene: Scene, clients: Iterable[StreamClient], before: Iterable[int]) -> None:
    """Until each client has another connection."""
    lost = list(zip(clients, before, strict=True))
    came_back = wait_for(lambda: all(c.connections > b for c, b in lost), BACK_WITHIN_S)
    scene.check_happened(came_back, "each client lost its stream, and came back")


def _kill_all(scene: Scene) -> None:
    scene.cluster.streams.kill()
    code = scene.cluster.streams.exit_code
    scene.check_happened(code == -SIGKILL, "the streaming process was killed", code)
    scene.cluster.begin_streams()


def _kill_worker(scene: Scene) -> None:
    """The main process starts another one."""
    main, *workers = process_tree(scene.cluster.streams.pid)
    for worker in workers:
        os.kill(worker, SIGKILL)
    end_s = time.monotonic() + WORKER_BACK_S
    while not (now := {*process_tree(main)} - {main, *workers}) and time.monotonic() < end_s:
        time.sleep(0.05)
    scene.check_happened(bool(workers and now), "its worker was killed, and replaced", workers)


STREAMS = [
    Experiment("F52", "streams break in the middle of an event", _cut_streams, in_ci=True),
    Experiment("F55", "the streaming process and its worker are killed under load", _kill_streams),
]
