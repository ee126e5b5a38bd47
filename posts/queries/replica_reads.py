"""Reads posts from a shard's replica, but only of authors whose posts are current there.

Every write to an author's posts changes the version of their list in the same transaction. A
replica that has the shard's version of an author therefore has all of the author's posts and no
deleted one. Posts of the other authors are read from the shard.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.sharding.replicas import is_replica_used, try_replica
from posts.ids import PostId
from posts.queries.rows import read_posts
from posts.types import PostRow

Authors = Collection[int]
Versions = Mapping[int, int]
ReadRows = Callable[[str, Authors], list[PostRow]]


class ReplicaAnswer(NamedTuple):
    """The authors whose posts are current on the replica, and their rows."""

    authors: Authors
    rows: list[PostRow]


def read_versions(alias: str, author_ids: Authors) -> Versions:
    """The version of each author's list of posts; no author is missing. One query by key."""
    counts = read_counts(alias, list(author_ids), [CounterKind.POSTS])
    return {author_id: kinds[CounterKind.POSTS].version for author_id, kinds in counts.items()}


def read_up_to_date(alias: str, versions: Versions, read: ReadRows) -> list[PostRow]:
    """The rows of `read(alias, authors)` for all authors, at these versions or later.

    Cost: two queries on the replica, and one on the shard for authors who lag on the replica;
    without a replica only the one on the shard.
    """
    answer = try_replica(alias, partial(_read_current, versions, read)) or ReplicaAnswer((), [])
    behind = versions.keys() - answer.authors
    return [*answer.rows, *(read(alias, behind) if behind else ())]


def read_posts_up_to_date(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """The same rows as `read_posts`, from the shard's replica where they are current there.

    Cost: one query; with a replica one for the versions, and those of read_up_to_date.
    """
    if not is_replica_used(alias):
        return read_posts(alias, ids)
    versions = read_versions(alias, {post_id.author_id for post_id in ids})
    return read_up_to_date(alias, versions, partial(_read_of, ids))


def _read_current(versions: Versions, read: ReadRows, replica: str) -> ReplicaAnswer:
    """Reads the versions before the rows: the rows may be newer than the versions, never older."""
    there = read_versions(replica, versions.keys())
    authors = {author_id for author_id, v in versions.items() if there[author_id] >= v}
    return ReplicaAnswer(authors, read(replica, authors) if authors else [])


def _read_of(ids: Sequence[PostId], alias: str, authors: Authors) -> list[PostRow]:
    return read_posts(alias, [post_id for post_id in ids if post_id.author_id in authors])
