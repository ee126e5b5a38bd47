"""The pass of audit accounts over users: has each an account with the same restrictions?"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from accounts.actions.create_rows import create_account_rows
from accounts.actions.restrict import restrict_accounts
from accounts.cache import refresh_profiles
from accounts.changes import UserCreated
from accounts.queries.users import load_restrictions
from accounts.sql import RESTRICTION_REVISIONS, USERS_OF_BUCKETS
from accounts.types import RestrictionState
from infra.changes.sql import SELECT_PENDING
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding
from infra.jobs.types import Work
from infra.jobs.walk import Key, Piece, Row, Table, walk
from infra.sharding.buckets import bucket_map
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

PENDING = f"""
SELECT owner_id FROM ({SELECT_PENDING} AND kind = %s) AS pending WHERE owner_id = ANY(%s::bigint[])
"""  # noqa: S608


def judge_users(piece: Piece, _: AuditRun) -> Iterator[AuditFinding]:
    """Users without an account, or whose account has older restrictions.

    A user and its change are written together, and the change stops being pending after the account
    was written. Restrictions that are being written now may be reported; the repair only completes
    them. Cost: two queries on the default database, one on the shard.
    """
    ids = [row[0] for row in piece.rows]
    restricted = load_restrictions(ids)
    pending = {row[0] for row in fetch_all(GLOBAL_ALIAS, PENDING, (UserCreated.kind, ids))}
    known = dict(fetch_all(piece.alias, RESTRICTION_REVISIONS, (ids,)))
    rows = [row for row in piece.rows if row[0] not in pending]
    return _find(piece.alias, rows, known, restricted)


def walk_users(work: Work, _: Table) -> Iterator[Piece]:
    """The users whose accounts are on these shards. One query on the default database a piece."""
    return walk(work, partial(_read_users, work.account_id))


def _read_users(account_id: int | None, alias: str, after: Key | None, count: int) -> list[Row]:
    buckets = [bucket for bucket, of in enumerate(bucket_map()) if of == alias]
    params = {
        "buckets": buckets,
        "account": account_id,
        "after": after and after[0],
        "count": count,
    }
    return fetch_all(GLOBAL_ALIAS, USERS_OF_BUCKETS, params)


def _find(
    alias: str,
    users: Sequence[Row],
    known: Mapping[int, int],
    restricted: Mapping[int, RestrictionState],
) -> Iterator[AuditFinding]:
    for row in users:
        user_id, wanted = row[0], restricted.get(row[0])
        line = f"account {user_id}: user @{row[1]} "
        if user_id not in known:
            yield AuditFinding(f"{line}has no account", partial(_create, alias, row, wanted))
        elif wanted is not None and known[user_id] < wanted.revision:
            repair = partial(restrict_accounts, alias, {user_id: wanted})
            yield AuditFinding(f"{line}has other restrictions than the account", repair)


def _create(alias: str, row: Row, wanted: RestrictionState | None) -> None:
    """An account with the user's name and an empty profile: the rest was on the shard only."""
    user_id, username, joined = row
    create_account_rows(alias, {user_id: UserCreated(username, "", joined)})
    if wanted is not None:
        restrict_accounts(alias, {user_id: wanted})
    # A read before has cached "no such account".
    refresh_profiles([user_id])
