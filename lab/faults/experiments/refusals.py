"""Redis answers reads and refuses writes, and some clients only read.

Nothing that they ask for writes, so no refusal reaches their web by itself. They read without a
pause on one web, while accounts of the other web delete posts and block readers.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from lab.faults.cluster.redis_refusals import REFUSALS
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.types import Experiment
from lab.faults.history.calls import ClientCall
from lab.faults.load.connection import ClientConnection
from lab.faults.load.session import Session

CALLS_PER_S = 10.0
WARM_S, AFTER_S, MOST_S = 0.5, 0.5, 10.0


class Look(NamedTuple):
    """One answer to a client that only reads. `shows`: whether the post was on it."""

    began_s: float
    is_ok: bool
    shows: bool


class RepeatedReader:
    """It asks for one path again and again. Safety: `looks` is read after `reading`."""

    def __init__(self, connection: ClientConnection, path: str, post: int) -> None:
        self._connection, self._path, self._post = connection, path, post
        self.looks: list[Look] = []

    def read(self, over: threading.Event) -> None:
        while not over.is_set():
            began_s = time.monotonic()
            answer = self._connection.get(self._path)
            # 404 is an answer too: it does not show the post.
            shows = f"'id': '{self._post}'" in repr(answer.body)
            self.looks.append(Look(began_s, answer.status in (200, 404), shows))


def _refuse(scene: Scene) -> None:
    with scene.under_load(CALLS_PER_S):
        for way in REFUSALS:
            for name, act in ACTS.items():
                _try(scene, way, name, act)


def _try(scene: Scene, way: str, name: str, act: Callable[[Session, int, int], ClientCall]) -> None:
    """One act while Redis refuses writes in one way, and what the readers saw."""
    writer, reader = scene.load.sessions[0], scene.accounts[1]
    post = writer.post(f"{way} {name}").made
    if post is None:
        raise RuntimeError("the post was refused")
    readers = _make_readers(scene, post)
    with _reading(readers):
        time.sleep(WARM_S)
        began_s = time.monotonic()
        with scene.broken(), scene.nemesis.refusing_writes(way):
            scene.check_happened(scene.nemesis.refuses_writes(), f"{way}: Redis refuses writes")
            done = act(writer, post, reader.id)
            time.sleep(AFTER_S)
        _use_redis_again(scene)
    writer.relate("unblock", reader.id)
    _judge(scene, f"{way}, {name}", readers, began_s, done)


def _judge(
    scene: Scene, what: str, readers: Sequence[RepeatedReader], began_s: float, done: ClientCall
) -> None:
    looks = [look for reader in readers for look in reader.looks]
    before = sum(look.shows for look in looks if look.began_s < began_s)
    after = [look for look in looks if look.began_s > done.ended_s]
    late = [look for look in after if look.shows]
    took_ms = 1000 * (done.ended_s - done.began_s)
    scene.note(f"{what}: answered {done.status} in {took_ms:.0f} ms, {len(after)} reads after it")
    scene.check(before > 0 and len(after) > 0, f"{what}: clients read before and after", before)
    scene.check(
        done.outcome != "ok" or not late, f"nothing is shown after the answer: {what}", len(late)
    )
    failed = [look for look in looks if not look.is_ok]
    scene.check(not failed, f"{what}: reads have no error", len(failed))


def _make_readers(scene: Scene, post: int) -> list[RepeatedReader]:
    """On the web that the writer does not use."""
    account, writer = scene.accounts[1], scene.accounts[0]
    paths = (f"/api/v1/statuses/{post}", f"/api/v1/accounts/{writer.id}/statuses")
    token = account.tokens[1]
    return [
        RepeatedReader(ClientConnection(1, token, scene.balancer, MOST_S), path, post)
        for path in paths
    ]


@contextmanager
def _reading(readers: Sequence[RepeatedReader]) -> Iterator[None]:
    over = threading.Event()
    with ThreadPoolExecutor(len(readers)) as pool:
        reading = [pool.submit(reader.read, over) for reader in readers]
        try:
            yield
        finally:
            over.set()
        for task in reading:
            task.result()


def _use_redis_again(scene: Scene) -> None:
    """Returns when no change waits: webs use Redis again when its drain has caught up."""
    deadline = time.monotonic() + MOST_S
    while scene.cluster.count_undelivered()["pending"] and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(AFTER_S)


ACTS: dict[str, Callable[[Session, int, int], ClientCall]] = {
    "delete": lambda writer, post, _: writer.delete(post),
    "block": lambda writer, _, reader: writer.relate("block", reader),
}

REFUSING = [Experiment("F44", "Redis answers reads and refuses writes, in five ways", _refuse)]
