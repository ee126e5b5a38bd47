"""Reads users from the default database: ids by name, and restrictions. One query each.

The language in which an account gets mails and messages.
"""

from collections.abc import Iterable
from datetime import datetime

from accounts.models import User
from accounts.types import Restriction, RestrictionState
from infra.languages import language_or_default
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one

# A former name is never the name of another account.
FIND = """
SELECT id FROM accounts_user WHERE username = %(name)s
UNION ALL SELECT user_id FROM accounts_formername WHERE username = %(name)s LIMIT 1
"""
FIND_ALL = """
SELECT username, id FROM accounts_user WHERE username = ANY(%(names)s::text[])
UNION ALL SELECT username, user_id FROM accounts_formername
WHERE username = ANY(%(names)s::text[])
"""
NAMES = "SELECT id, username FROM accounts_user WHERE id = ANY(%s::bigint[])"
EXISTS = "SELECT 1 FROM accounts_user WHERE id = %s"
STAFF = "SELECT 1 FROM accounts_user WHERE id = %s AND (is_staff OR is_superuser)"
NEWEST = "SELECT id FROM accounts_user WHERE is_active ORDER BY id DESC LIMIT %s"
COUNT_SINCE = """
SELECT count(*) FROM (SELECT date_joined FROM accounts_user ORDER BY id DESC LIMIT %s) AS newest
WHERE date_joined > %s
"""
# The expression of user_email_unique, so that its index serves the query.
TAKEN_EMAILS = """
SELECT lower(email) FROM accounts_user WHERE lower(email) = ANY(%s::text[]) AND email <> ''
"""
RESTRICTIONS = """
SELECT id, restrictions, restriction_revision, suspended_at FROM accounts_user
WHERE id = ANY(%s::bigint[]) AND restriction_revision > 0
"""


def find_account_id(username: str) -> int | None:
    """The account id of a username in any case, also of a former one, or None."""
    if "\x00" in username:
        return None  # PostgreSQL has no such text
    row = fetch_one(GLOBAL_ALIAS, FIND, {"name": username.lower()})
    return row[0] if row else None


def find_account_ids(usernames: Iterable[str]) -> dict[str, int]:
    """The account ids of those usernames, in lower case, that exist or did before a renaming."""
    return dict(fetch_all(GLOBAL_ALIAS, FIND_ALL, {"names": list(usernames)}))


def load_usernames(account_ids: Iterable[int]) -> dict[int, str]:
    """The usernames of those accounts that have a user."""
    return dict(fetch_all(GLOBAL_ALIAS, NAMES, (list(account_ids),)))


def is_user(account_id: int) -> bool:
    """Whether a user has this account id; the account row may not exist yet."""
    return fetch_one(GLOBAL_ALIAS, EXISTS, (account_id,)) is not None


def is_staff(account_id: int) -> bool:
    """Whether this user has rights in the admin."""
    return fetch_one(GLOBAL_ALIAS, STAFF, (account_id,)) is not None


def list_newest_account_ids(count: int) -> list[int]:
    """The ids of the newest accounts that can sign in, newest first."""
    return [row[0] for row in fetch_all(GLOBAL_ALIAS, NEWEST, (count,))]


def count_sign_ups(since: datetime, most: int) -> int:
    """How many accounts signed up since then, of the `most` newest ones. By the primary key."""
    row = fetch_one(GLOBAL_ALIAS, COUNT_SINCE, (most, since))
    return row[0] if row else 0


def load_restrictions(account_ids: Iterable[int]) -> dict[int, RestrictionState]:
    """Restrictions by account. Accounts that were never restricted are missing."""
    rows = fetch_all(GLOBAL_ALIAS, RESTRICTIONS, (list(account_ids),))
    return {row[0]: RestrictionState(Restriction(row[1]), row[2], row[3]) for row in rows}


def find_taken_emails(emails: Iterable[str]) -> set[str]:
    """Those of the addresses that users have, in lower case. No query without addresses."""
    wanted = [email.lower() for email in emails]
    return {row[0] for row in fetch_all(GLOBAL_ALIAS, TAKEN_EMAILS, (wanted,))} if wanted else set()


def find_language(account_id: int) -> str:
    """What the person chose, or the language of the site. One query of the default database."""
    chosen = User.objects.filter(pk=account_id).values_list("language", flat=True).first()
    return language_or_default(chosen or "")
