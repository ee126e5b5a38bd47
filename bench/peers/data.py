"""The accounts, follows and posts that all sides share."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.conf import settings

from bench.world import TEXT, load_accounts
from demo.graphs import build_graph
from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute
from posts.ids import EPOCH, SEQUENCES
from posts.sql import ANALYZE_POSTS, INSERT_POSTS
from timelines.recent.days import PARTITIONS, first_second, kept_days, oldest_read
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.sql import ANALYZE_RECENT_POSTS, INSERT_RECENT_POSTS

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
# Only rows: the counts of posts are not written, so the compensator reports drift.
WRITE = f"""
{INSERT_POSTS}
SELECT author_id, (second - {EPOCH}) * {SEQUENCES}, %(text)s, false, ''
FROM unnest(%(authors)s::bigint[], %(seconds)s::bigint[]) AS post(author_id, second)
"""
INDEX = f"""
{INSERT_RECENT_POSTS}
SELECT author_id, (second - {EPOCH}) * {SEQUENCES}
FROM unnest(%(authors)s::bigint[], %(seconds)s::bigint[]) AS post(author_id, second)
WHERE second - {EPOCH} >= %(oldest)s
"""


class PeerPost(NamedTuple):
    """`second`: Unix seconds, different for every post."""

    author: int
    second: int


class PeerData(NamedTuple):
    """All by account id. `readers`: by their name in the figures.

    `stage`: two authors of the script, and one who posts very much.
    """

    people: Sequence[int]
    follows: Sequence[tuple[int, int]]
    posts: Sequence[PeerPost]
    readers: Mapping[str, Sequence[int]]
    star: int
    crowd: Sequence[int]
    stage: Sequence[int]
    stage_crowd: Sequence[int]


def load_data() -> PeerData:
    """Writes the data to Tideline's databases. The contenders write what it returns."""
    readers = dict(_draw_readers(random.Random(SEED)))
    pairs = [pair for follows in readers.values() for pair in follows]
    pairs += [(one, STAR) for one in CROWD]
    pairs += [(one, ANCHOR) for one in (*ACTIVE, *QUIET, *STAGE_CROWD, *STAGE)]
    ids = _load(pairs)
    data = PeerData(
        people=[*ids.values()],
        follows=[(ids[follower], ids[followee]) for follower, followee in pairs],
        posts=_posts(ids),
        readers={name: sorted({ids[one] for one, _ in all_}) for name, all_ in readers.items()},
        star=ids[STAR],
        crowd=[ids[one] for one in CROWD],
        stage=[ids[one] for one in STAGE],
        stage_crowd=[ids[one] for one in STAGE_CROWD],
    )
    _write_posts(data.posts)
    return data


def _draw_readers(dice: random.Random) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    node = FIRST_READER
    kinds = [(str(size), ACTIVE, size) for size in SIZES]
    for name, authors, size in [*kinds, (f"{QUIET_FOLLOWEES} quiet", QUIET, QUIET_FOLLOWEES)]:
        nodes = range(node, node + READERS_EACH)
        yield name, [(one, other) for one in nodes for other in dice.sample(authors, size)]
        node += READERS_EACH


def _load(pairs: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    """Account ids by node."""
    return load_accounts(build_graph(pairs, max(SIZES), "peers"), "peers")


def _posts(ids: Mapping[int, int]) -> list[PeerPost]:
    """Oldest first."""
    now = int(time.time()) - 3_600
    active = _spread(ACTIVE, POSTS_EACH, now - 14 * DAY_S, now)
    quiet = _spread(QUIET, QUIET_POSTS_EACH, now - 14 * DAY_S, now - 10 * DAY_S)
    by_second = {second: author for author, second in (*quiet, *active)}
    return [PeerPost(ids[author], second) for second, author in sorted(by_second.items())]


def _spread(authors: Sequence[int], each: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Posts at even intervals. Each round has a new order of authors."""
    dice, count = random.Random(SEED), len(authors) * each
    order = [one for _ in range(each) for one in dice.sample(authors, len(authors))]
    return ((author, start + n * (end - start) // count) for n, author in enumerate(order))


def _write_posts(posts: Sequence[PeerPost]) -> None:
    today = datetime.now(UTC).date()
    oldest = first_second(oldest_read(today))
    by_author: dict[int, list[PeerPost]] = {}
    for post in posts:
        by_author.setdefault(post.author, []).append(post)
    for alias, authors in group_by_shard(by_author).items():
        PARTITIONS.make(alias, kept_days(today))
        own = [post for author in authors for post in by_author[author]]
        execute(alias, WRITE, _columns(own) | {"text": TEXT})
    for alias in settings.SHARD_ALIASES:
        execute(alias, INDEX, _columns(posts) | {"oldest": oldest})
        lower_low_water_mark(alias, oldest)
        execute(alias, ANALYZE_POSTS)
        execute(alias, ANALYZE_RECENT_POSTS)


def _columns(posts: Sequence[PeerPost]) -> dict[str, object]:
    return {"authors": [one.author for one in posts], "seconds": [one.second for one in posts]}
