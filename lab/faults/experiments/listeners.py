"""Clients of streams in an experiment, and whether they heard what the rows say."""

import random
import time
from collections import Counter
from collections.abc import Sequence

from lab.faults.cluster.cluster import ClientAccount
from lab.faults.experiments.scene import Scene
from lab.faults.load.stream import HeardEvent, StreamClient
from posts.ids import EPOCH, SEQUENCES

HEARD_WITHIN_S, LOOK_EVERY_S = 10.0, 0.1
UPDATE, MENTION = "update", "mention"


def make_listeners(
    scene: Scene, people: Sequence[ClientAccount], cuts: float = 0.0
) -> dict[int, StreamClient]:
    """A client of the home stream for each account, by its id."""
    port = scene.cluster.streams_port
    return {
        person.id: StreamClient(
            port, person.tokens[0], random.Random(f"{scene.seed} {person.id}"), cuts
        )
        for person in people
    }


def begin_of_posts() -> int:
    """Waits for the next second. A moment below those of all posts from now on."""
    time.sleep(1.0 - time.time() % 1.0)
    return (int(time.time()) - EPOCH) * SEQUENCES - 1


def check_heard(
    scene: Scene, listeners: dict[int, StreamClient], above: int, mentions: bool = False
) -> None:
    """Each client heard of each post, and with `mentions` of each mention, that the rows have, and
    of no other. A post came twice only if the client had no position behind it. Notifications of
    some seconds before may come again, as those of the follows: they are found by time."""
    order = {"readers": [*listeners], "above": above}
    posts = scene.cluster.backstage.ask({"do": "stream_posts", "with": order})
    wanted = {reader: Counter(posts[str(reader)]) for reader in listeners}
    missed = _wait(listeners, UPDATE, wanted)
    count = sum(map(len, wanted.values()))
    scene.note(f"{count} posts for {len(listeners)} clients")
    scene.check(count > 0, "there were posts to hear of", count)
    scene.check(not missed, "each client heard of exactly the posts that the rows have", missed)
    if mentions:
        rows = scene.cluster.backstage.ask({"do": "stream_mentions", "with": order})
        told = {reader: Counter(map(str, rows[str(reader)])) for reader in listeners}
        missed = _wait(listeners, MENTION, told)
        scene.note(f"{sum(map(len, told.values()))} mentions")
        scene.check(any(told.values()), "there were mentions to hear of")
        scene.check(not missed, "and of exactly the mentions", missed)
    wrong = [each for client in listeners.values() for each in wrong_repeats(client)]
    again = sum(_count_repeats(client) for client in listeners.values())
    scene.note(f"{again} messages came twice")
    scene.check(not wrong, "only posts without a position behind them came twice", wrong[:5])
    reloads = [client.resumed for client in listeners.values() if "reload" in client.resumed]
    scene.check(not reloads, "no client had to reload", reloads[:5])


def wrong_repeats(client: StreamClient) -> list[str]:
    """Posts that came again to a client whose position was behind them."""
    first: dict[str, HeardEvent] = {}
    wrong = []
    for heard in list(client.heard):
        if heard.event == UPDATE:
            before = first.setdefault(heard.entity, heard)
            if before is not heard and before.id != client.asked[heard.connection - 1]:
                wrong.append(heard.entity)
    return wrong


def _count_repeats(client: StreamClient) -> int:
    entities = [(heard.event, heard.entity) for heard in list(client.heard)]
    return len(entities) - len({*entities})


def _wait(
    listeners: dict[int, StreamClient], kind: str, wanted: dict[int, Counter[str]]
) -> list[str]:
    """What is missing or too much in the end, for the first few clients."""
    end_s = time.monotonic() + HEARD_WITHIN_S
    while True:
        differ = {
            reader: (wanted[reader].keys() - heard, heard - wanted[reader].keys())
            for reader, client in listeners.items()
            if (heard := {*client.entities(kind)}) != {*wanted[reader]}
        }
        if not differ or time.monotonic() > end_s:
            break
        time.sleep(LOOK_EVERY_S)
    return [
        f"{reader} lacks {sorted(lacks)[:5]} and has {sorted(more)[:5]} too much"
        for reader, (lacks, more) in [*differ.items()][:5]
    ]
