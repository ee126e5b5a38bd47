"""Compares users, on the default database, with the accounts on the shards.

An account without a user is one that the default database has lost: it was restored to an earlier
moment. Its name could be taken by another person, and its id given to a new user, who would own its
posts.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from django.db import transaction

from accounts.actions.create_rows import create_account_rows
from accounts.actions.rename import copy_usernames
from accounts.actions.restrict import restrict_accounts
from accounts.cache import refresh_profiles
from accounts.changes import UserCreated
from accounts.identities.actions.create_objects import bind_again
from accounts.identities.queries import load_names
from accounts.queries.profiles import find_profile
from accounts.queries.users import load_restrictions, load_usernames
from accounts.sql import (
    CREATE_LOST_USER,
    LAST_USER_ID,
    RAISE_USER_IDS,
    RESTRICTION_REVISIONS,
    USERS_OF_BUCKETS,
)
from accounts.types import RestrictionState, ServiceObject
from infra.api.errors import NotFound
from infra.changes.sql import SELECT_PENDING
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding
from infra.jobs.types import Work
from infra.jobs.walk import Key, Piece, Row, Table, walk
from infra.sharding.buckets import bucket_map
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all, fetch_one

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
    """An account with the user's name and an empty profile: the rest was on the shard only. A
    thing of a service is one again; its service sends the rest."""
    user_id, username, joined = row
    name = load_names([user_id]).get(user_id)
    owned = name if isinstance(name, ServiceObject) else None
    create_account_rows(alias, {user_id: UserCreated(username, "", joined, service_object=owned)})
    if wanted is not None:
        restrict_accounts(alias, {user_id: wanted})
    # A read before has cached "no such account".
    refresh_profiles([user_id])


class AccountNameTaken(NotFound):
    """Another user has the name of an account without a user."""


def judge_accounts(piece: Piece, _: AuditRun) -> Iterator[AuditFinding]:
    """Accounts without a user, with another name, with newer restrictions, or with an id that a
    new user may get.

    A user is written before the account. Cost: three queries on the default database.
    """
    yield from _find_ids_to_come(piece)
    yield from _find_without_user(piece)
    yield from _find_newer(piece)


def _find_ids_to_come(piece: Piece) -> Iterator[AuditFinding]:
    highest = piece.rows[-1][0]
    last = fetch_one(GLOBAL_ALIAS, LAST_USER_ID)
    if last is not None and last[0] < highest:
        line = f"account {highest}: its id would be given to a new user; the last was {last[0]}"
        yield AuditFinding(line, partial(fetch_one, GLOBAL_ALIAS, RAISE_USER_IDS, (highest,)))


def _find_without_user(piece: Piece) -> Iterator[AuditFinding]:
    ids = [row[0] for row in piece.rows]
    names = load_usernames(ids)
    for account_id, username, created_at, _ in piece.rows:
        if account_id not in names:
            line = f"account {account_id}: @{username} has no user"
            repair = partial(_create_closed_user, account_id, username, created_at)
            yield AuditFinding(line, repair)
        elif names[account_id] != username:
            line = f"account {account_id}: @{username} is @{names[account_id]} as a user"
            yield AuditFinding(line, partial(copy_usernames, [account_id]))


def _create_closed_user(account_id: int, username: str, created_at: datetime) -> None:
    """A thing of a service gets its external id back. Raises: AccountNameTaken."""
    profile = find_profile(account_id)
    with transaction.atomic(using=GLOBAL_ALIAS):
        if not execute(GLOBAL_ALIAS, CREATE_LOST_USER, (account_id, username, created_at)):
            raise AccountNameTaken
        if profile is not None and profile.service_object is not None:
            bind_again(account_id, profile.service_object)


def _find_newer(piece: Piece) -> Iterator[AuditFinding]:
    """Not repaired: a moderator decides whether the account is still to be restricted."""
    restricted = load_restrictions([row[0] for row in piece.rows])
    for account_id, username, _, revision in piece.rows:
        known = restricted[account_id].revision if account_id in restricted else 0
        if revision > known:
            yield AuditFinding(
                f"account {account_id}: @{username} has newer restrictions than its user"
            )
