"""What accounts are restricted to, from the truth: their users, on the default database."""

from collections.abc import Iterable

from accounts.types import Restriction, RestrictionState
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

READ = """
SELECT id, restrictions, restriction_revision, suspended_at FROM accounts_user
WHERE id = ANY(%s::bigint[]) AND restriction_revision > 0
"""


def load_restrictions(account_ids: Iterable[int]) -> dict[int, RestrictionState]:
    """Of those accounts that ever had any. One query."""
    rows = fetch_all(GLOBAL_ALIAS, READ, (list(account_ids),))
    return {row[0]: RestrictionState(Restriction(row[1]), row[2], row[3]) for row in rows}
