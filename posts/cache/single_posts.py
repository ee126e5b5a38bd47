"""The cache of single posts: old ones, and those of authors who post too much for a week.

    posts.single:v3:<site>:{author}:moment   0:…:fragment

A change of the post deletes the entry, and the load token with it, so that a load in progress is
not written. So an entry needs no version. Posts that do not exist have none: ids that a client
makes up would fill Redis.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from zlib import crc32

from django.conf import settings

from infra.caching.client import Command
from infra.caching.questions import Question
from infra.caching.values import Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from posts.cache.by_post import PostValues, by_number, number_of, post_of
from posts.fragments.present import encode_post
from posts.fragments.read import check_fragment
from posts.ids import PostId
from posts.queries.replica_reads import read_posts_up_to_date
from posts.types import PostRow

TTL_S = 86_400
Fragments = dict[PostId, bytes]
# Fragments contain absolute links, so a new PUBLIC_URL must not find old entries.
SITE = f"{crc32(settings.PUBLIC_URL.encode()):08x}"


def ask_single_posts(ids: Iterable[PostId]) -> Question[Fragments]:
    """Fragments of the posts that exist. Cost: one command.

    For those that Redis lacks one query per shard, with a replica up to four, and two more trips.
    """
    posts = by_number(ids)
    asked = _single_posts.ask_uncopied(list(posts))
    return asked.then(lambda loaded: {posts[number]: text for number, text in loaded.items()})


def drop_single_posts(ids: Iterable[PostId]) -> list[Command]:
    """Deletes the entries of posts that changed. Send it after the commit."""
    return _single_posts.drop_commands(list(map(number_of, ids)))


def encode_rows(rows: Iterable[PostRow]) -> Fragments:
    return {PostId.at(row.author_id, row.moment): encode_post(row) for row in rows}


def _load(numbers: Sequence[int]) -> Mapping[int, Versioned]:
    fragments = _read(map(post_of, numbers))
    return {number_of(i): Versioned(0, fragment) for i, fragment in fragments.items()}


def _read(ids: Iterable[PostId]) -> Fragments:
    """From the shards or their replicas."""
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    calls = {
        alias: partial(
            read_posts_up_to_date, alias, [i for author in authors for i in by_author[author]]
        )
        for alias, authors in group_by_shard(by_author).items()
    }
    return encode_rows(row for rows in scatter(calls).values() for row in rows)


_single_posts = PostValues(f"posts.single:v3:{SITE}", TTL_S, _load, check_fragment)
