"""Does the next lines of the files of a shard, a few seconds' worth at a time."""

import time
from collections.abc import Callable

from accounts.queries.profiles import read_profiles
from accounts.types import Restriction
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import is_owned
from infra.sharding.sql import execute, fetch_all
from integrations.brought_lists.actions.do_line import do_line
from integrations.brought_lists.types import BroughtKind, LineState
from relations.errors import TooManyFollowsToday

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
