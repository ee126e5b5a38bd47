"""The accounts, follows and posts that all sides share."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lab.bench.bulk_posts import BulkPost, spread_posts, write_posts
from lab.bench.world import load_accounts
from operations.demo.graphs import build_graph

ACTIVE = range(1, 1_501)
QUIET = range(1_501, 2_001)
SIZES = (20, 200, 1_000)
QUIET_FOLLOWEES = 200
READERS_EACH = 10
FIRST_READER = 3_000
STAR, ANCHOR = 4_000, 4_001
STAGE = range(4_010, 4_013)
CROWD = range(10_000, 15_000)
STAGE_CROWD = range(20_000, 20_300)
SEED = 7
DAY_S = 86_400
# ACTIVE accounts posted over 14 days until now. QUIET ones have posted nothing for ten days.
POSTS_EACH, QUIET_POSTS_EACH = 200, 40


class PeerData(NamedTuple):
    """All by account id. `readers`: by their name in the figures.

    `stage`: two authors of the script, and one who posts very much.
    """

    people: Sequence[int]
    follows: Sequence[tuple[int, int]]
    posts: Sequence[BulkPost]
    readers: Mapping[str, Sequence[int]]
    star: int
    crowd: Sequence[int]
    stage: Sequence[int]
    stage_crowd: Sequence[int]


def load_data() -> PeerData:
    """Writes the data to Tideline's databases. The contenders write what it returns."""
    readers = dict(_draw_readers(random.Random(SEED)))
    pairs = [pair for follows in readers.values() for pair in follows]
    pairs += [(fan, STAR) for fan in CROWD]
    pairs += [(reader, ANCHOR) for reader in (*ACTIVE, *QUIET, *STAGE_CROWD, *STAGE)]
    ids = _load(pairs)
    data = PeerData(
        people=[*ids.values()],
        follows=[(ids[follower], ids[followee]) for follower, followee in pairs],
        posts=_posts(ids),
        readers={
            name: sorted({ids[reader] for reader, _ in all_}) for name, all_ in readers.items()
        },
        star=ids[STAR],
        crowd=[ids[member] for member in CROWD],
        stage=[ids[member] for member in STAGE],
        stage_crowd=[ids[member] for member in STAGE_CROWD],
    )
    write_posts(data.posts)
    return data


def _draw_readers(dice: random.Random) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    node = FIRST_READER
    kinds = [(str(size), ACTIVE, size) for size in SIZES]
    for name, authors, size in [*kinds, (f"{QUIET_FOLLOWEES} quiet", QUIET, QUIET_FOLLOWEES)]:
        nodes = range(node, node + READERS_EACH)
        yield name, [(node, other) for node in nodes for other in dice.sample(authors, size)]
        node += READERS_EACH


def _load(pairs: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    """Account ids by node."""
    return load_accounts(build_graph(pairs, max(SIZES), "peers"), "peers")


def _posts(ids: Mapping[int, int]) -> list[BulkPost]:
    """Oldest first, and a different second for every post."""
    now = int(time.time()) - 3_600
    active = spread_posts(ACTIVE, POSTS_EACH, now - 14 * DAY_S, now, SEED)
    quiet = spread_posts(QUIET, QUIET_POSTS_EACH, now - 14 * DAY_S, now - 10 * DAY_S, SEED)
    by_second = {post.second: post.author for post in (*quiet, *active)}
    return [BulkPost(ids[author], second) for second, author in sorted(by_second.items())]
