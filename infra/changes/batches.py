"""One batch of a drain: takes rows that are due, delivers them, and files them as delivered.

A batch never remembers the last id: ids become visible out of order, and a watermark would skip
late ones (decision 0001). After a crash the rows are still pending.

Changes of one post are filed in their order, also when one of them is tried again.

A reader of the feed would otherwise get a post after its deletion. The changes of other posts of
the account do not wait. Rows that come later are held back by TAKE.
"""

import dataclasses
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import structlog
from django.db import transaction

from infra.changes.append import append_follow_ups
from infra.changes.causes import read_causes
from infra.changes.deliver import ChangeRow, Failure, Outcome, deliver
from infra.changes.done_inline import take_done
from infra.changes.errors import EarlierFailed, LeaseLost
from infra.changes.failpoints import failpoint
from infra.changes.failures import record_failures
from infra.changes.lanes import batch_size
from infra.changes.lease import Tokens
from infra.changes.metrics import count_delivered, count_failed
from infra.changes.pausing import move_to_paused_lane
from infra.sharding.sql import fetch_all, fetch_one
from infra.telemetry.reached_branches import reached
from infra.telemetry.request_ids import caused_by, get_request_ids
from infra.telemetry.spans import span


class _AboutPost(msgspec.Struct):
    """The part of a payload that names a post of the owner, if it is about one."""

    moment: int | None = None


def hold_later_back(rows: Sequence[ChangeRow], outcome: Outcome) -> Outcome:
    """With the rows as failures, too, of whose post an earlier change failed. They wait, and their
    consumers run again with them."""
    if not outcome.failures:
        return outcome
    failed = {failure.row.id for failure in outcome.failures}
    posts, held = set[tuple[int, int, int]](), list[Failure]()
    for row in rows:
        post = _post_of(row)
        if row.id in failed and post is not None:
            posts.add(post)
        elif post in posts:
            reached("drain.row_waits_for_earlier")
            held.append(Failure(row, EarlierFailed("an earlier change of its post comes first")))
    return outcome._replace(failures=[*outcome.failures, *held])


def _post_of(row: ChangeRow) -> tuple[int, int, int] | None:
    """Lane, owner and moment; None: the change is about no post, or cannot be read."""
    try:
        moment = msgspec.json.decode(row.payload, type=_AboutPost).moment
    except msgspec.MsgspecError:
        return None
    return None if moment is None else (row.lane, row.owner_id, moment)


log = structlog.get_logger()

# PostgreSQL hashes the paused kinds once a statement; there are almost never any. A change waits
# for an earlier one of its post that is tried again later (keep_order.py); the index change_failed
# has few rows.
TAKE = """
SELECT id, kind, owner_id, payload, created_at, attempts,
    kind IN (SELECT kind FROM changes_pausedkind WHERE NOT is_ending), lane
FROM unnest(%s::smallint[], %s::int[]) AS wanted (wanted_lane, size) CROSS JOIN LATERAL (
    SELECT * FROM changes_change AS one
    WHERE lane = wanted_lane AND state = 0 AND next_attempt_at <= clock_timestamp()
        AND NOT EXISTS (
            SELECT FROM changes_change AS earlier
            WHERE earlier.owner_id = one.owner_id AND earlier.state = 0 AND earlier.error <> ''
                AND earlier.id < one.id AND earlier.lane = one.lane
                AND earlier.next_attempt_at > clock_timestamp()
                AND earlier.payload -> 'moment' = one.payload -> 'moment'
        )
    ORDER BY id LIMIT size
) AS due ORDER BY id
"""
# Those of the lanes with a row that is due. One look at an index for each.
DUE_LANES = """
SELECT lane FROM unnest(%s::smallint[]) AS wanted (lane) WHERE EXISTS (
    SELECT FROM changes_change AS one
    WHERE one.lane = wanted.lane AND state = 0 AND next_attempt_at <= clock_timestamp()
)
"""
# The lock on the leases holds a successor back until the rows are filed. A drainer that lost one of
# its leases files nothing. In the order of lanes, as the heartbeat locks them.
FILE = """
WITH held AS MATERIALIZED (
    SELECT lease.lane FROM changes_drainlease AS lease
    JOIN unnest(%(lanes)s::smallint[], %(tokens)s::bigint[]) AS mine (lane, token)
        ON lease.lane = mine.lane AND lease.token = mine.token
    WHERE lease.expires_at > '-infinity' ORDER BY lease.lane FOR SHARE OF lease
), removed AS (
    DELETE FROM changes_change
    WHERE id = ANY(%(ids)s::bigint[])
        AND (SELECT count(*) FROM held) = cardinality(%(lanes)s::smallint[])
    RETURNING *
), filed AS (
    INSERT INTO changes_delivered
        (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
    SELECT (now() AT TIME ZONE 'UTC')::date, id, lane, kind, owner_id, payload, created_at, now()
    FROM removed ORDER BY id
)
SELECT count(*) FROM held
"""


@dataclasses.dataclass(slots=True)
class DrainReport:
    """Counts of one drain. `more`: rows are left that can be delivered now."""

    delivered: int = 0
    failed: int = 0
    parked: int = 0
    more: bool = False

    def add(self, other: "DrainReport") -> None:
        self.delivered += other.delivered
        self.failed += other.failed
        self.parked += other.parked
        self.more |= other.more


def take_batch(alias: str, lanes: Sequence[int]) -> list[ChangeRow]:
    """The oldest rows of each lane that are due, at most a batch a lane, in id order.

    One query, by index.
    """
    sizes = [batch_size(lane) for lane in lanes]
    return [ChangeRow(*row) for row in fetch_all(alias, TAKE, ([*lanes], sizes))]


def list_due_lanes(alias: str, lanes: Sequence[int]) -> list[int]:
    """Those of the lanes from which `take_batch` may take something. A third of its cost."""
    return [lane for (lane,) in fetch_all(alias, DUE_LANES, ([*lanes],))]


def drain_batch(alias: str, tokens: Tokens, taken: Sequence[ChangeRow]) -> DrainReport:
    """Delivers taken rows and files them. `tokens`: the leases on their lanes.

    `more`: a consumer returned follow-up changes for one of these lanes.
    Raises: LeaseLost; then nothing is filed.
    """
    due = move_to_paused_lane(alias, taken)
    if not due:
        return DrainReport()
    done = take_done(alias, [row.id for row in due])
    rows = [row._replace(done=done.get(row.id, row.done)) for row in due]
    with caused_by(_causes_of(rows)), span("drain.batch", _span_attributes(alias, rows)):
        failpoint("drain.before_delivery")
        outcome = deliver(alias, rows)
        outcome = hold_later_back(rows, outcome)
        failpoint("drain.before_filing")
        report = _file(alias, tokens, rows, outcome)
        failpoint("drain.after_filing")
        _tell(alias, rows, outcome)
    return report


def _file(alias: str, tokens: Tokens, rows: Sequence[ChangeRow], outcome: Outcome) -> DrainReport:
    failed_ids = {failure.row.id for failure in outcome.failures}
    delivered = [row.id for row in rows if row.id not in failed_ids]
    report = DrainReport(len(delivered), len(outcome.failures))
    if not outcome.failures and not outcome.follow_ups:
        failpoint("drain.before_commit")
        _file_rows(alias, tokens, delivered)
        return report
    with transaction.atomic(using=alias):
        _file_rows(alias, tokens, delivered)
        written = append_follow_ups(alias, outcome.follow_ups, tokens)
        report.more = not written.isdisjoint(tokens)
        report.parked = record_failures(alias, outcome.failures)
        failpoint("drain.before_commit")
    return report


def _file_rows(alias: str, tokens: Tokens, ids: Sequence[int]) -> None:
    """One statement. It also checks the leases when there are no rows. Raises: LeaseLost."""
    values = {"lanes": [*tokens], "tokens": [*tokens.values()], "ids": ids}
    row = fetch_one(alias, FILE, values)
    if row is None or row[0] < len(tokens):
        reached("drain.lease_lost")
        raise LeaseLost(f"lanes {[*tokens]} of {alias}, tokens {[*tokens.values()]}")


def _tell(alias: str, rows: Sequence[ChangeRow], outcome: Outcome) -> None:
    failed_ids = {failure.row.id for failure in outcome.failures}
    count_delivered(row.kind for row in rows if row.id not in failed_ids)
    count_failed(failure.row.kind for failure in outcome.failures)
    # All request ids, so that a search finds this line; other lines of a large batch name a few.
    causes = {"request_ids": list(get_request_ids())} if get_request_ids() else {}
    lanes, count = sorted({row.lane for row in rows}), len(rows) - len(failed_ids)
    log.info("drain.batch_delivered", alias=alias, lanes=lanes, rows=count, **causes)


def _span_attributes(alias: str, rows: Sequence[ChangeRow]) -> dict[str, str | int]:
    causes = get_request_ids()
    known = {"tideline.request_id": causes[0]} if len(causes) == 1 else {}
    lane, count = rows[0].lane, len(rows)
    return {"tideline.shard": alias, "tideline.lane": lane, "tideline.rows": count, **known}


def _causes_of(rows: Sequence[ChangeRow]) -> list[str]:
    """The requests behind the rows. A row that cannot be read is skipped; it fails at delivery."""
    causes: list[str] = []
    for row in rows:
        with suppress(msgspec.MsgspecError):
            causes += read_causes(row.payload)
    return causes
