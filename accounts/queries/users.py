"""From a name to an account."""

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

FIND = "SELECT id FROM accounts_user WHERE username = %s"
KNOWN = "SELECT 1 FROM accounts_user WHERE id = %s"


def find_account_id(username: str) -> int | None:
    """The id behind a username in any case, or None. One query on the default database."""
    if "\x00" in username:
        return None  # PostgreSQL has no such text
    row = fetch_one(GLOBAL_ALIAS, FIND, (username.lower(),))
    return row[0] if row else None


def is_user(account_id: int) -> bool:
    """Whether somebody signed up as this account. One query on the default database."""
    return fetch_one(GLOBAL_ALIAS, KNOWN, (account_id,)) is not None
