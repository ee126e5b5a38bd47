"""The work on brought lists.

Takes a file over, so that its lines are done later.

Does what a line says, by the actions of the API. Each is idempotent.

Does the next lines of the files of a shard, a few seconds' worth at a time.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.identities.queries import load_account_ids
from accounts.queries.profiles import find_profile, read_profiles
from accounts.queries.users import find_account_id
from accounts.types import Restriction
from infra.api.errors import TidelineError
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import is_owned, shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from integrations.brought_lists.errors import FileInWork, FileRefused
from integrations.brought_lists.types import BroughtKind, LineState
from posts.actions.mark_post import mark_post
from posts.external.queries.posts import load_known_posts
from posts.ids import PostId
from posts.reading.statuses import get_original
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.errors import TooManyFollowsToday
from relations.languages import check_languages
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.errors import NotFollowed
from relations.lists.queries.lists import list_account_lists
from relations.types import FollowOptions
from timelines.search.addresses import parse_account_address

IS_OPEN = """
SELECT 1 FROM integrations_broughtfile WHERE owner_id = %s AND finished_at IS NULL
"""
DELETE_ROWS = "DELETE FROM integrations_broughtrow WHERE owner_id = %s"
WRITE = """
INSERT INTO integrations_broughtfile (owner_id, kind, lines) VALUES (%s, %s, %s)
ON CONFLICT (owner_id) DO UPDATE SET kind = excluded.kind, lines = excluded.lines,
    started_at = excluded.started_at, goes_on_at = excluded.goes_on_at, finished_at = NULL
"""
WRITE_ROWS = """
INSERT INTO integrations_broughtrow (owner_id, number, cells)
SELECT %s, number, ARRAY(SELECT jsonb_array_elements_text(cells))
FROM unnest(%s::jsonb[]) WITH ORDINALITY AS line (cells, number)
"""


def start_file(owner_id: int, kind: BroughtKind, lines: Sequence[str]) -> None:
    """Stores the lines, each a JSON list of its cells. They replace those of a file that is done.

    Raises: FileInWork, AccountNotFound. Cost: one transaction of five statements.
    """
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        if fetch_one(alias, IS_OPEN, (owner_id,)):
            raise FileInWork
        execute(alias, DELETE_ROWS, (owner_id,))
        execute(alias, WRITE, (owner_id, int(kind), len(lines)))
        execute(alias, WRITE_ROWS, (owner_id, list(lines)))


MOST_TITLE = 200
Cells = Sequence[str]


def do_line(owner_id: int, kind: BroughtKind, cells: Cells) -> str:
    """Empty if it is done, else why it is refused. Raises: TooManyFollowsToday, UNREACHABLE."""
    try:
        ACTIONS[kind](owner_id, cells)
    except TooManyFollowsToday:
        raise
    except TidelineError as error:
        return str(error)
    return ""


def _follow(owner_id: int, cells: Cells) -> None:
    address, boosts, notify, languages = cells
    codes = check_languages(filter(None, map(str.strip, languages.split(","))))
    options = FollowOptions(reposts=_flag(boosts), notify=_flag(notify), languages=codes or None)
    follow(owner_id, _account(address), options)


def _block(owner_id: int, cells: Cells) -> None:
    block(owner_id, _account(cells[0]))


def _mute(owner_id: int, cells: Cells) -> None:
    mute(owner_id, _account(cells[0]), hides_notifications=_flag(cells[1]) is not False)


def _bookmark(owner_id: int, cells: Cells) -> None:
    mark_post(owner_id, get_original(_post(cells[0]), owner_id), Kind.BOOKMARK, True)


def _add_to_list(owner_id: int, cells: Cells) -> None:
    """Into the oldest list of this name, or a new one."""
    title, address = cells
    if not 0 < len(title) <= MOST_TITLE:
        raise FileRefused(f"The name of a list has 1 to {MOST_TITLE} characters")
    account_id = _account(address)
    known = [each.list_id for each in list_account_lists(owner_id) if each.title == title]
    list_id = known[0] if known else create_account_list(owner_id, title).list_id
    try:
        add_members(owner_id, list_id, [account_id])
    except NotFollowed:
        raise FileRefused("You do not follow this account") from None


def _account(address: str) -> int:
    """The account of this site, or the one that was imported with this address. One that no reader
    sees is not there: the result must not tell that it is suspended."""
    name = parse_account_address(address).username
    account_id = find_account_id(name) if name else None
    if account_id is None:
        key = address.removeprefix("@").lower()
        account_id = load_account_ids([key]).get(key)
    profile = find_profile(account_id) if account_id else None
    if profile is None or Restriction.SUSPENDED in profile.restrictions:
        raise FileRefused("There is no such account here")
    return profile.id


def _post(url: str) -> PostId:
    """The post of this site, or the one that was imported with this URL."""
    post_id = parse_account_address(url).post_id
    if post_id is None and url:
        known = load_known_posts([url]).get(url)
        post_id = known.post_id if known else None
    if post_id is None:
        raise FileRefused("There is no such post here")
    return post_id


def _flag(cell: str) -> bool | None:
    return {"true": True, "false": False}.get(cell.lower())


ACTIONS: Mapping[BroughtKind, Callable[[int, Cells], None]] = {
    BroughtKind.FOLLOWS: _follow,
    BroughtKind.BLOCKS: _block,
    BroughtKind.MUTES: _mute,
    BroughtKind.BOOKMARKS: _bookmark,
    BroughtKind.LISTS: _add_to_list,
}

FILES_A_RUN, LINES_A_FILE = 10, 20
# Changes of the database wait while it runs.
RUN_S = 1.0
RETRY_S = 30
KEEP_DAYS = 30
DUE = """
SELECT owner_id, kind FROM integrations_broughtfile
WHERE finished_at IS NULL AND goes_on_at <= now() ORDER BY goes_on_at LIMIT %s
"""
LINES = f"""
SELECT number, cells FROM integrations_broughtrow
WHERE owner_id = %s AND state = {LineState.PENDING:d} ORDER BY number LIMIT %s
"""  # noqa: S608
END_LINE = f"""
UPDATE integrations_broughtrow SET state = %s, reason = %s
WHERE owner_id = %s AND number = %s AND state = {LineState.PENDING:d}
"""  # noqa: S608
REFUSE_ALL = f"""
UPDATE integrations_broughtrow SET state = {LineState.REFUSED:d}, reason = %s
WHERE owner_id = %s AND state = {LineState.PENDING:d}
"""  # noqa: S608
GO_ON = """
UPDATE integrations_broughtfile SET goes_on_at = now() + %s * interval '1 second'
WHERE owner_id = %s
"""
FINISH = "UPDATE integrations_broughtfile SET finished_at = now() WHERE owner_id = %s"
DELETE_OLD = """
WITH gone AS (
    DELETE FROM integrations_broughtfile WHERE owner_id IN (
        SELECT owner_id FROM integrations_broughtfile
        WHERE finished_at < now() - %s * interval '1 day' LIMIT %s
    ) RETURNING owner_id
)
DELETE FROM integrations_broughtrow AS line USING gone WHERE line.owner_id = gone.owner_id
"""
MAY_NOT_WRITE = Restriction.FROZEN | Restriction.SUSPENDED


def do_brought_lines(alias: str, clock_s: Callable[[], float] = time.monotonic) -> None:
    """Does lines of the files that waited longest, until RUN_S is over.

    Safety: any number may run at once and be killed anywhere: a line that was done and not noted is
    done again, which changes nothing. Cost: one query; for each file two and an update, for each
    line its action and an update.
    """
    end_s = clock_s() + RUN_S
    for owner_id, kind in fetch_all(alias, DUE, (FILES_A_RUN,)):
        if clock_s() >= end_s:
            return
        if is_owned(alias, owner_id):
            wait_s = _go_on(alias, owner_id, BroughtKind(kind), lambda: clock_s() < end_s)
            execute(alias, GO_ON, (wait_s, owner_id))


def delete_old_files(alias: str) -> None:
    """Deletes the results of files that were done KEEP_DAYS ago. One statement."""
    execute(alias, DELETE_OLD, (KEEP_DAYS, FILES_A_RUN))


def _go_on(alias: str, owner_id: int, kind: BroughtKind, has_time: Callable[[], bool]) -> int:
    """Returns after how many seconds the file goes on."""
    if not _may_write(alias, owner_id):
        execute(alias, REFUSE_ALL, ("The account may not write", owner_id))
    lines = fetch_all(alias, LINES, (owner_id, LINES_A_FILE))
    if not lines:
        execute(alias, FINISH, (owner_id,))
    for number, cells in lines:
        try:
            reason = do_line(owner_id, kind, cells)
        except TooManyFollowsToday as error:
            return int(error.headers["Retry-After"])
        except UNREACHABLE:
            return RETRY_S
        failpoint("brought_lists.line_done")
        state = LineState.REFUSED if reason else LineState.DONE
        execute(alias, END_LINE, (int(state), reason, owner_id, number))
        if not has_time():
            break
    return 0


def _may_write(alias: str, owner_id: int) -> bool:
    profiles = read_profiles(alias, [owner_id])
    return bool(profiles) and not profiles[0].restrictions & MAY_NOT_WRITE
