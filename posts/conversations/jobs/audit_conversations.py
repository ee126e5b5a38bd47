"""Compares what accounts have of direct posts with the posts, both ways, and writes it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, compare_again
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Piece, walk_table
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions.end_lost_post import LostPost, end_lost_post
from posts.conversations.actions.record_direct_posts import record_as_they_are
from posts.conversations.actions.update_conversations import POST, OwnedPost
from posts.conversations.queries.participants import list_owned_posts
from posts.ids import PostId
from posts.queries.responses import read_states
from posts.sql import DIRECT_POSTS_WRITTEN
from posts.types import Visibility

KNOWN = f"""
SELECT {POST} FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS wanted ({POST}) JOIN conversations_directpost USING ({POST})
"""  # noqa: S608
Listed = tuple[int, PostId]  # an owner, and a direct post for the owner


def judge_listed(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Rows of conversations without a direct post.

    Cost: two queries per shard of the authors; the same again while changes are pending.
    """
    rows = [(row[0], PostId(*row[1:4])) for row in piece.rows]
    gone = compare_again(rows, _find_gone, run.pause)
    known = _find_with_row({post_id for _, post_id in gone})
    return (_gone(key, key[1] in known) for key in gone)


def judge_written(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Direct posts that one of their accounts has no row of. Cost: as `judge_listed`."""
    ids = [PostId.at(*row) for row in piece.rows]
    unlisted = compare_again(ids, partial(_find_unlisted, piece.alias), run.pause)
    return (_unlisted(piece.alias, post_id) for post_id in unlisted)


def _find_gone(rows: Sequence[Listed]) -> list[Listed]:
    """Those whose post is deleted, or is not for the owner."""
    named: dict[PostId, set[int]] = {}
    for owner_id, post_id in rows:
        named.setdefault(post_id, set()).add(owner_id)
    gone = set()
    for alias, ids in _by_shard(named).items():
        owned = list_owned_posts(alias, {post_id: named[post_id] for post_id in ids})
        gone |= {(row.owner_id, row.post_id) for row in owned if row.thread is None}
    return [row for row in rows if row in gone]


def _find_with_row(ids: Iterable[PostId]) -> set[PostId]:
    """Those of the posts that have a row, deleted or not."""
    return {state for alias, some in _by_shard(ids).items() for state in read_states(alias, some)}


def _by_shard(ids: Iterable[PostId]) -> dict[str, list[PostId]]:
    groups: dict[str, list[PostId]] = {}
    for post_id in ids:
        groups.setdefault(shard_of(post_id.author_id), []).append(post_id)
    return groups


def _gone(listed: Listed, has_row: bool) -> AuditFinding:
    owner_id, post_id = listed
    line = f"account {post_id.author_id}: direct post {post_id.public}"
    if has_row:
        again = partial(record_as_they_are, shard_of(post_id.author_id), {post_id: (owner_id,)})
        return AuditFinding(f"{line} is gone, and still listed for {owner_id}", again)
    lost = LostPost(post_id, visibility=Visibility.DIRECT, mentioned=(owner_id,))
    return AuditFinding(f"{line} for {owner_id} was lost", partial(end_lost_post, lost))


def _find_unlisted(alias: str, ids: Sequence[PostId]) -> list[PostId]:
    """Those of the direct posts of one shard that one of their accounts has no row of."""
    owned = [row for row in list_owned_posts(alias, dict.fromkeys(ids, ())) if row.thread]
    groups: dict[str, list[OwnedPost]] = {}
    for row in owned:
        groups.setdefault(shard_of(row.owner_id), []).append(row)
    known = {row for shard, some in groups.items() for row in _read_known(shard, some)}
    lacking = {row.post_id for row in owned if row.key not in known}
    return [post_id for post_id in ids if post_id in lacking]


def _read_known(alias: str, owned: Sequence[OwnedPost]) -> Iterator[tuple[int, ...]]:
    columns = [list(column) for column in zip(*(row.key for row in owned), strict=True)]
    return iter(fetch_all(alias, KNOWN, columns))


def _unlisted(alias: str, post_id: PostId) -> AuditFinding:
    line = f"account {post_id.author_id}: direct post {post_id.public} is not listed for all"
    return AuditFinding(line, partial(record_as_they_are, alias, {post_id: ()}))


def backfill_conversations(work: Work) -> Iterator[Batch]:
    """The rows of conversations that are missing, a batch of direct posts each.

    A conversation that its owner took off the list stays off, unless its rows were lost. Safety:
    idempotent, and correct while writes go on. Cost: two queries a batch, and one statement on each
    shard of the accounts.
    """
    for alias, rows, position in walk_table(work, DIRECT_POSTS_WRITTEN):
        if not work.dry_run:
            record_as_they_are(alias, {PostId.at(*row): () for row in rows})
        yield Batch(len(rows), 0, alias, 0, position)
