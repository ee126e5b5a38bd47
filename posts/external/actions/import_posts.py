"""Writes the imported posts of accounts of one shard: hundreds in one statement.

The end of an import is reported to the floors above.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from infra.changes.append import append_change, change_columns
from infra.changes.failpoints import failpoint
from infra.changes.wake_up import wake
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_one, named_call
from posts.actions.insert_post import json_of
from posts.changes import ImportEnded, PostsImported
from posts.ids import PostId
from posts.types import PostLinks, Target

# The function and its results: posts/functions.sql
PARAMETERS = (
    *("authors", "external_ids", "seconds", "texts", "are_sensitive", "spoiler_texts"),
    *("languages", "kinds", "about_authors", "about_moments", "visibilities"),
    *("all_mentions", "all_tags", "first_authors", "first_moments"),
    *("post_types", "customs"),
    *("lane", "change", "payload"),
)
IMPORT = f"SELECT * FROM {named_call('posts_import', PARAMETERS)}"  # noqa: S608
# Each author of a statement is locked until its end, and the locks share a table of the server.
MOST_TOGETHER = 1_000


class ImportedPost(NamedTuple):
    """A post to write. `second`: of its id. `thread`: the first post; None: the post itself.
    `post_type`, `custom`: as of a post."""

    author_id: int
    external_id: str
    second: int
    text: str
    is_sensitive: bool
    spoiler_text: str
    language: str | None
    kind: int
    target: Target | None
    visibility: int
    links: PostLinks
    thread: PostId | None
    post_type: str | None = None
    custom: str | None = None


class ImportedMoments(NamedTuple):
    """The ids of the posts that were written, by place. `fulls`: the places of those whose author
    has no free id in that second."""

    ids: dict[int, PostId]
    fulls: list[int]


def import_posts(alias: str, posts: Sequence[ImportedPost]) -> ImportedMoments:
    """Writes at most MOST_TOGETHER posts. Those that were imported before are left out.

    All authors have accounts on this shard; an external id comes once. Caches, and what other
    shards have, follow by the drain. Safety: idempotent; one transaction with its change. Cost: one
    statement, which locks the accounts of the authors.
    """
    change = change_columns(posts[0].author_id, PostsImported())
    columns = [list(column) for column in zip(*map(_row, posts), strict=True)]
    row = fetch_one(alias, IMPORT, (*columns, *change))
    failpoint("posts.imported")
    numbers, moments, fulls, change_id = row  # type: ignore[misc]  # a function has one row
    if change_id is not None:
        wake(alias, change.lane)
    ids = {
        number - 1: PostId.at(posts[number - 1].author_id, moment)
        for number, moment in zip(numbers or (), moments or (), strict=True)
    }
    return ImportedMoments(ids, [number - 1 for number in fulls or ()])


def _row(post: ImportedPost) -> Sequence[object]:
    """The parameters from `authors` to `customs`."""
    about = (None, None) if post.target is None else post.target[1:]
    thread = (None, None) if post.thread is None else (post.thread.author_id, post.thread.moment)
    links = json_of(post.links.mentions), json_of(post.links.tags)
    own_data = post.post_type, post.custom
    return (*post[:8], *about, post.visibility, *links, *thread, *own_data)


def end_import() -> None:
    """Lets each shard drop live timelines, which may lack imported posts.

    Call it when all posts are delivered: a timeline that is built earlier may lack some. Safety:
    idempotent. Cost: a statement a shard; the drain does the rest.
    """
    for alias in shard_aliases():
        with transaction.atomic(using=alias):
            append_change(alias, 0, ImportEnded())
