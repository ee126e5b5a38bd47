"""Posts from a shard's replica, but only of authors of whom it knows all that the shard knows.

Every write to an author's posts moves the version of their list, in the same transaction. So a
replica that has the shard's version has the author's posts too, and none that is deleted; one that
has not is not believed about this author, neither what it has nor what it lacks.
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
    """What a replica said of those authors it could say something about."""

    authors: Authors
    rows: list[PostRow]


def read_versions(alias: str, author_ids: Authors) -> Versions:
    """Of authors' lists of posts, every author present. One query by key."""
    counts = read_counts(alias, list(author_ids), [CounterKind.POSTS])
    return {author_id: one[CounterKind.POSTS].version for author_id, one in counts.items()}


def read_up_to_date(alias: str, versions: Versions, read: ReadRows) -> list[PostRow]:
    """What `read(alias, authors)` gives of all authors, at these versions of the shard or later.

    Cost: two queries on the replica, one on the shard for whom the replica trails; without a
    replica that one alone.
    """
    known = try_replica(alias, partial(_read_known, versions, read)) or ReplicaAnswer((), [])
    behind = versions.keys() - known.authors
    return [*known.rows, *(read(alias, behind) if behind else ())]


def read_posts_up_to_date(alias: str, ids: Sequence[PostId]) -> list[PostRow]:
    """As `read_posts`, and from the shard's replica where that is as good.

    Cost: one query; with a replica the versions of the authors too, and as above.
    """
    if not is_replica_used(alias):
        return read_posts(alias, ids)
    versions = read_versions(alias, {post_id.author_id for post_id in ids})
    return read_up_to_date(alias, versions, partial(_read_of, ids))


def _read_known(versions: Versions, read: ReadRows, replica: str) -> ReplicaAnswer:
    """The versions before the rows: rows may be newer than the replica said, never older."""
    there = read_versions(replica, versions.keys())
    authors = {author_id for author_id, v in versions.items() if there[author_id] >= v}
    return ReplicaAnswer(authors, read(replica, authors) if authors else [])


def _read_of(ids: Sequence[PostId], alias: str, authors: Authors) -> list[PostRow]:
    return read_posts(alias, [post_id for post_id in ids if post_id.author_id in authors])
