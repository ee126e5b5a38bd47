"""Who may go on to listen: tokens that are revoked, and accounts that block each other."""

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from lab.faults.cluster.cluster import DRAINERS
from lab.faults.experiments.listeners import (
    HEARD_WITHIN_S,
    UPDATE,
    begin_of_posts,
    make_listeners,
)
from lab.faults.experiments.scene import Scene
from lab.faults.experiments.slow_places import restart, sleeping
from lab.faults.experiments.types import Experiment
from lab.faults.history.calls import ClientCall
from lab.faults.load.session import Session
from lab.faults.load.stream import StreamClient, listening
from lab.runner.redis_cluster import wait_until

# So many that asking for them one by one would take seconds.
TOKENS, REVOKED, ENDS_WITHIN_S, WAITED_S = 400, 10, 1.0, 5.0
BLOCKS, POSTS_BEFORE, AFTER_S = 4, 3, 1.0
MIRROR = "relations.edges_read"


def _revoke(scene: Scene) -> None:
    """Among hundreds of streams; also right after Redis was emptied, and while it is away."""
    accounts = [person.id for person in scene.accounts]
    order = {"accounts": accounts, "count": TOKENS}
    tokens = scene.cluster.backstage.ask({"do": "more_tokens", "with": order})
    clients = [_listener(scene, token) for token in tokens]
    parts = [clients[start : start + REVOKED] for start in range(0, 3 * REVOKED, REVOKED)]
    with scene.cluster.streaming(), listening(clients):
        _revoke_some(scene, parts[0], "a revoked token")
        with scene.broken():
            lost = scene.nemesis.flush()
            scene.check_happened(lost > TOKENS, "Redis lost its keys", lost)
            _revoke_some(scene, parts[1], "one revoked right after a flush")
            met = scene.cluster.links.cut("streaming:redis")
            scene.check_happened(met > 0, "connections to Redis were reset", met)
            _revoke_some(scene, parts[2], "one revoked while Redis is away")
            scene.cluster.links.open("streaming:redis")
        ended = [client for client in clients[3 * REVOKED :] if client.ended_s]
        scene.check(not ended, "the other streams go on", len(ended))


def _listener(scene: Scene, token: str) -> StreamClient:
    rng = random.Random(scene.seed)
    return StreamClient(scene.cluster.streams_port, token, rng, is_quiet=True)


def _revoke_some(scene: Scene, clients: Sequence[StreamClient], what: str) -> None:
    began_s = time.monotonic()
    tokens = [client.token for client in clients]
    left = scene.cluster.backstage.ask({"do": "revoke", "with": tokens})
    scene.check(left == 0, "no row of a revoked token is left", left)
    end_s = began_s + WAITED_S
    while not all(client.ended_s for client in clients) and time.monotonic() < end_s:
        time.sleep(0.01)
    took_ms = [((client.ended_s or end_s) - began_s) * 1000 for client in clients]
    scene.note(f"{what} ends its streams within {max(took_ms):.0f} ms")
    scene.check_latency(max(took_ms), ENDS_WITHIN_S * 1000, f"{what} ends its streams")


def _block(scene: Scene) -> None:
    """While the other side of a block is late, and the author posts all the time: first readers
    block authors, then authors block readers."""
    made: dict[tuple[int, int], set[str]] = {}
    pairs = [(scene.accounts[n], scene.accounts[n + 1]) for n in range(0, 2 * BLOCKS, 2)]
    listeners = make_listeners(scene, [reader for reader, _ in pairs])
    with scene.cluster.streaming(), listening(listeners.values()):
        above = begin_of_posts()
        with scene.broken():
            restart(scene, DRAINERS, {MIRROR: sleeping(0.5)})
            for number, (reader, author) in enumerate(pairs):
                readers, authors = scene.load.sessions[2 * number : 2 * number + 2]
                who = (authors, readers) if number % 2 else (readers, authors)
                posts = _block_one(scene, listeners[reader.id], authors, *who)
                made[reader.id, author.id] = posts
            restart(scene, DRAINERS, {})
    scene.check_armed(MIRROR)
    _check_rows(scene, made, above)


def _check_rows(scene: Scene, made: Mapping[tuple[int, int], set[str]], above: int) -> None:
    """The posts are there, and they are not of an account that the reader follows."""
    order = {"readers": [i for pair in made for i in pair], "above": above}
    rows = scene.cluster.backstage.ask({"do": "stream_posts", "with": order})
    wrong = [
        (reader, author)
        for (reader, author), posts in made.items()
        if posts & {*rows[str(reader)]} or not posts <= {*rows[str(author)]}
    ]
    scene.check(not wrong, "by the rows all posts are there, and no follow is", wrong)


def _block_one(
    scene: Scene, client: StreamClient, author: Session, blocker: Session, blocked: Session
) -> set[str]:
    """No post of the author that began after the answer to the block is heard. Returns the posts.

    They begin to come once deliveries have begun again after the restart.
    """
    who = "the author" if blocker is author else "the reader"
    with _posting(scene, author) as posts:
        wait_until(lambda: len(_heard_of(client, posts)) >= POSTS_BEFORE, HEARD_WITHIN_S)
        call = blocker.relate("block", blocked.person.id)
        time.sleep(AFTER_S)
    after = {str(post.made) for post in posts if post.began_s > call.ended_s}
    heard = _heard_of(client, posts)
    scene.check(bool(after), f"{who} blocks in the middle of posts", len(after))
    wrong = sorted(after & heard.keys())
    scene.check(not wrong, f"nothing of after the block is heard when {who} blocks", wrong)
    late_ms = (max(heard.values()) - call.ended_s) * 1000
    scene.note(f"{who} blocked; {len(after)} posts followed; the last one came at {late_ms:.0f} ms")
    return {str(post.made) for post in posts}


def _heard_of(client: StreamClient, posts: Sequence[ClientCall]) -> dict[str, float]:
    """Which of the posts the client has heard of, and when."""
    made = {str(post.made) for post in list(posts)}
    return {h.entity: h.at_s for h in list(client.heard) if h.event == UPDATE and h.entity in made}


@contextmanager
def _posting(scene: Scene, author: Session) -> Iterator[Sequence[ClientCall]]:
    """The author posts without a pause during the block, on another device."""
    load, over = scene.make_load([author.person], 1.0, {}), threading.Event()
    device, posts = load.sessions[0], list[ClientCall]()

    def post() -> None:
        while not over.is_set():
            posts.append(device.post(f"number {len(posts)}"))

    thread = threading.Thread(target=post, daemon=True)
    thread.start()
    try:
        yield posts
    finally:
        over.set()
        thread.join()
        scene.judge_too(load)


STREAM_RIGHTS = [
    Experiment("F53", "tokens are revoked, also after a flush and without Redis", _revoke),
    Experiment("F54", "blocks while their other side is late", _block),
]
