"""Announces posts whose rows another program wrote or deleted."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.errors import AccountNotFound
from counters.actions.move_counts import move_counts
from counters.jobs.drifting_counts import repair
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.changes.failpoints import failpoint
from infra.jobs.announce import AnnouncedRows, Key
from infra.jobs.walk import Table
from infra.sharding.sql import fetch_all
from posts.changes import PostDeleted, PostEdited, PostsImported
from posts.ids import EPOCH, PostId
from posts.types import Kind, Target

COLUMNS = (
    *("deleted_at", "edited_at", "visibility", "tags", "mentions"),
    *("kind", "target_author", "target_moment", "thread_author", "thread_moment"),
)
TABLE = Table("posts_post", ("author_id", "moment"), COLUMNS)
# A key without a row has only NULL.
FIND = f"""
SELECT author_id, moment, {", ".join(COLUMNS)}
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
LEFT JOIN posts_post USING (author_id, moment)
"""  # noqa: S608


class AnnouncedPost(NamedTuple):
    """A row of TABLE. `visibility` None: there is no row."""

    author_id: int
    moment: int
    deleted_at: datetime | None
    edited_at: datetime | None
    visibility: int | None
    tags: Sequence[str] | None
    mentions: Sequence[tuple[int, str]] | None
    kind: int | None
    target_author: int | None
    target_moment: int | None
    thread_author: int | None
    thread_moment: int | None

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)

    @property
    def is_gone(self) -> bool:
        return self.visibility is None or self.deleted_at is not None

    @property
    def mentioned(self) -> tuple[int, ...]:
        return tuple(account_id for account_id, _ in self.mentions or ())


def announce(alias: str, rows: Sequence[Any]) -> list[str]:
    """A deleted row is a deleted post. Any other one was edited, and came with an import: indexes
    may lack it; a repost has nothing to edit. Then the counts of the authors are made equal to
    their rows. Texts, tags and mentions are what the columns say.

    Cost: a transaction for each author, of two statements and two for each post; and as `repair`
    for each author.
    """
    posts = [AnnouncedPost(*row) for row in rows]
    failed = []
    for author_id in dict.fromkeys(post.author_id for post in posts):
        try:
            _announce_author(alias, author_id, [p for p in posts if p.author_id == author_id])
        except AccountNotFound:
            failed.append(f"posts of {author_id}: the account does not exist")
        failpoint("posts.rows_announced")
        repair(alias, author_id)
    return failed


def _announce_author(alias: str, author_id: int, posts: Sequence[AnnouncedPost]) -> None:
    """Raises: AccountNotFound."""
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        for post in posts:
            if post.kind == Kind.REPOST and not post.is_gone:
                continue
            moved = move_counts(alias, [CountMove(author_id, CounterKind.POSTS, 0)])
            version = moved[author_id, ACCOUNT, CounterKind.POSTS].version
            append_change(alias, author_id, _change_of(post, version))
        live = tuple(post.moment for post in posts if not post.is_gone)
        if live:
            append_change(alias, author_id, PostsImported((author_id,) * len(live), live))


def _change_of(post: AnnouncedPost, version: int) -> PostDeleted | PostEdited:
    visibility, tags = post.visibility or 0, tuple(post.tags or ())
    if post.is_gone:
        target = Target.of(post.kind or 0, post.target_author, post.target_moment)
        gone = target, visibility, tags, post.mentioned
        return PostDeleted(post.moment, version - 1, version, *gone)
    thread = None
    if post.thread_author is not None and post.thread_moment is not None:
        thread = post.thread_author, post.thread_moment
    about = visibility, tags, (), post.mentioned, (), thread
    return PostEdited(post.moment, version - 1, version, *about)


def _parse(text: str) -> Key:
    post_id = PostId.from_public(text)
    return post_id.author_id, post_id.moment


def _find(alias: str, keys: Sequence[Key]) -> list[tuple[Any, ...]]:
    authors, moments = (list(column) for column in zip(*keys, strict=True))
    return fetch_all(alias, FIND, (authors, moments))


def _moments(row: Sequence[Any]) -> Sequence[datetime | None]:
    post = AnnouncedPost(*row)
    written_at = datetime.fromtimestamp(post.post_id.second + EPOCH, UTC)
    return [written_at, post.edited_at, post.deleted_at]


POSTS = AnnouncedRows(
    TABLE,
    parse=_parse,
    find=_find,
    moments=_moments,
    name=lambda row: f"post {PostId.at(row[0], row[1]).public}",
    announce=announce,
)
