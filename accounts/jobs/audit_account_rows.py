"""The pass of audit accounts over accounts: has each a user, who has the next id after them?

An account without a user is one that the default database has lost: it was restored to an earlier
moment. Its name could be taken by another person, and its id given to a new user, who would own its
posts.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from accounts.actions.rename import copy_usernames
from accounts.queries.users import load_restrictions, load_usernames
from accounts.sql import (
    CREATE_LOST_USER,
    LAST_USER_ID,
    RAISE_USER_IDS,
)
from infra.api.errors import NotFound
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding
from infra.jobs.walk import Piece
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_one


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
    """Raises: AccountNameTaken."""
    if not execute(GLOBAL_ALIAS, CREATE_LOST_USER, (account_id, username, created_at)):
        raise AccountNameTaken


def _find_newer(piece: Piece) -> Iterator[AuditFinding]:
    """Not repaired: a moderator decides whether the account is still to be restricted."""
    restricted = load_restrictions([row[0] for row in piece.rows])
    for account_id, username, _, revision in piece.rows:
        known = restricted[account_id].revision if account_id in restricted else 0
        if revision > known:
            yield AuditFinding(
                f"account {account_id}: @{username} has newer restrictions than its user"
            )
