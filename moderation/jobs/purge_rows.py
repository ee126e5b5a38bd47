"""The tables of an account's rows besides relations, and the action that ends a row of each."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from infra.jobs.types import Batch, Work
from infra.jobs.walk import Row, Table, walk_table
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.errors import PostNotFound
from posts.ids import PostId
from posts.sql import LIVE_POSTS, VIEWER_MARKS
from posts.types import Kind
from relations.actions.mute import unmute
from relations.lists.actions.lists import delete_account_list
from relations.lists.errors import ListNotFound
from relations.lists.sql import ACCOUNT_LISTS
from relations.sql import ACTIVE_MUTES
from timelines.markers.rows import MARKERS, delete_marker


class OwnedRows(NamedTuple):
    """Rows of one table. `end` deletes or ends one row; it is idempotent."""

    table: Table
    end: Callable[[Row], object]


def _delete_post(row: Row) -> None:
    try:
        delete_post(PostId.at(*row))
    except PostNotFound:
        return  # deleted by its author or another run in the meantime


def _end_viewer_mark(row: Row) -> None:
    owner_id, moment, author_id, kind = row
    mark_post(owner_id, PostId.at(author_id, moment), Kind(kind), False)


def _end_mute(row: Row) -> None:
    owner_id, _kind, target_id = row
    unmute(owner_id, target_id)


def _delete_list(row: Row) -> None:
    try:
        delete_account_list(*row)
    except ListNotFound:
        return


TABLES = (
    OwnedRows(LIVE_POSTS, _delete_post),
    OwnedRows(VIEWER_MARKS, _end_viewer_mark),
    OwnedRows(ACTIVE_MUTES, _end_mute),
    OwnedRows(ACCOUNT_LISTS, _delete_list),
    OwnedRows(MARKERS, lambda row: delete_marker(*row)),
)


def _end_all(owned: OwnedRows, work: Work) -> Iterator[Batch]:
    for piece in walk_table(work, owned.table):
        if not work.dry_run:
            for row in piece.rows:
                owned.end(row)
        lines = [f"{owned.table.name} {'/'.join(map(str, row))}" for row in piece.rows]
        yield Batch(len(piece.rows), 0, piece.alias, len(piece.rows), None, lines)


PASSES = tuple(partial(_end_all, owned) for owned in TABLES)
