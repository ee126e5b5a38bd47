"""SQL over the tables of accounts, for other apps: only this app names its tables.

Statements for one shard, unless it says default database.
"""

from accounts.types import Restriction
from infra.jobs.walk import Table

# All accounts of a shard.
ACCOUNTS = Table("accounts_account", key=("id",))
ACCOUNT_NAMES = Table(
    "accounts_account", ("id",), ("username", "created_at", "restriction_revision")
)
# The highest account id of the shard, 0 without accounts.
LATEST_ACCOUNT_ID = "SELECT coalesce(max(id), 0) FROM accounts_account"
# Parameters: an id, how many. The next accounts above the id.
NEXT_ACCOUNT_IDS = "SELECT id FROM accounts_account WHERE id > %s ORDER BY id LIMIT %s"
# Parameter: ids. Those that are accounts of the shard.
EXISTING_ACCOUNT_IDS = "SELECT id FROM accounts_account WHERE id = ANY(%s::bigint[])"
# Parameter: ids. Those that are accounts of the shard and need not approve their followers.
UNLOCKED_ACCOUNT_IDS = f"{EXISTING_ACCOUNT_IDS} AND NOT is_locked"
# Parameter: ids. Id and revision of the restrictions, of those that are accounts of the shard.
RESTRICTION_REVISIONS = (
    "SELECT id, restriction_revision FROM accounts_account WHERE id = ANY(%s::bigint[])"
)
# A table: what the accounts of the shard chose for their home timelines.
HOME_CHOICES = "(SELECT id, version, home_replies FROM accounts_account)"
# Parameters: the columns. Returns the ids that are new; existing rows stay as they are.
CREATE_ACCOUNTS = """
INSERT INTO accounts_account (id, username, display_name, note, created_at, is_locked, is_bot,
    is_discoverable, fields, service_object)
SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::timestamptz[],
    %s::boolean[], %s::boolean[], %s::boolean[], %s::jsonb[], %s::jsonb[])
ON CONFLICT (id) DO NOTHING RETURNING id
"""
# Suspended accounts to purge, by id: those whose purge has begun, whenever they were suspended, and
# those suspended before %(before)s. %(account)s: only this one; %(after)s: above this id; or None.
ACCOUNTS_TO_PURGE = f"""
SELECT id FROM accounts_account
WHERE suspended_at IS NOT NULL AND restrictions & {Restriction.PURGED:d} = 0
    AND (%(account)s::bigint IS NULL OR id = %(account)s)
    AND (restrictions & {Restriction.PURGING:d} <> 0 OR suspended_at < %(before)s)
    AND (%(after)s::bigint IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(count)s
"""  # noqa: S608

# Parameters: ids, usernames, ids. The row is the owner's lock; several are locked by id. Returns
# the ids whose name was another.
COPY_USERNAMES = """
WITH wanted AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[]) AS wanted (id, username)
), locked AS MATERIALIZED (
    SELECT id FROM accounts_account WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE
)
UPDATE accounts_account AS account SET version = account.version + 1, username = wanted.username
FROM wanted JOIN locked USING (id)
WHERE account.id = wanted.id AND account.username <> wanted.username
RETURNING account.id
"""
# Default database. How many users have which restrictions; without those that have none.
RESTRICTED_USERS = """
SELECT restrictions, count(*) FROM accounts_user WHERE restrictions <> 0 GROUP BY 1
"""
# Default database. Parameters: %(buckets)s of one shard, %(account)s and %(after)s (an id or None),
# %(count)s. Returns id, username, when they joined.
USERS_OF_BUCKETS = """
SELECT id, username, date_joined FROM accounts_user
WHERE mod(id, 16384) = ANY(%(buckets)s::int[])
    AND (%(account)s::bigint IS NULL OR id = %(account)s)
    AND (%(after)s::bigint IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(count)s
"""
# Default database. Parameters: id, username, when they joined. Such a user cannot sign in.
CREATE_LOST_USER = """
INSERT INTO accounts_user
    (id, username, password, email, is_superuser, is_staff, is_active, date_joined)
SELECT id, username, '!', '', false, false, true, joined
FROM (VALUES (%s::bigint, %s::text, %s::timestamptz)) AS lost (id, username, joined)
WHERE NOT EXISTS (SELECT FROM accounts_formername WHERE username = lost.username)
ON CONFLICT DO NOTHING
"""
# Default database. The last user id that was given out.
LAST_USER_ID = "SELECT last_value FROM accounts_user_id_seq"
# Default database. Parameter: an id. The next user gets a higher one.
RAISE_USER_IDS = """
SELECT setval('accounts_user_id_seq', greatest(last_value, %s)) FROM accounts_user_id_seq
"""
# Default database. Parameter: usernames. Returns username, id, e-mail address.
USERS_BY_NAME = "SELECT username, id, email FROM accounts_user WHERE username = ANY(%s::text[])"
# Default database. Parameters: when they joined, usernames. '!' is no hash of any password, so
# closed users cannot sign in.
CREATE_CLOSED_USERS = """
INSERT INTO accounts_user
    (username, password, email, is_superuser, is_staff, is_active, date_joined)
SELECT username, '!', '', false, false, true, %s FROM unnest(%s::text[]) AS new (username)
ON CONFLICT (username) DO NOTHING
"""
# Default database. Parameters: a password hash, ids. Only closed users are changed.
OPEN_USERS = """
UPDATE accounts_user SET password = %s WHERE id = ANY(%s::bigint[]) AND password = '!'
"""

# Default database. Parameters: a percentage of the rows, and Unix seconds from which on they count.
# New users, and tokens in force, by the number of the week. `monday_s` and `week_s` are to be
# filled in.
USERS_TABLE, TOKENS_TABLE = "accounts_user", "accounts_accesstoken"
USERS_BY_WEEK = """
SELECT floor((extract(epoch FROM date_joined) - {monday_s}) / {week_s})::bigint, count(*)
FROM accounts_user TABLESAMPLE SYSTEM (%s) WHERE date_joined >= to_timestamp(%s) GROUP BY 1
"""
TOKENS_BY_WEEK = """
SELECT floor((extract(epoch FROM created) - {monday_s}) / {week_s})::bigint, count(*)
FROM accounts_accesstoken TABLESAMPLE SYSTEM (%s)
WHERE created >= to_timestamp(%s) AND user_id IS NOT NULL GROUP BY 1
"""


def account_exists(id_column: str) -> str:
    """A condition: the shard has an account with the id in this column."""
    return f"EXISTS (SELECT 1 FROM accounts_account account WHERE account.id = {id_column})"  # noqa: S608


def shows_collections(id_column: str) -> str:
    """A condition: others may see the followers and followees of the account in this column."""
    return f"""EXISTS (SELECT 1 FROM accounts_account account
        WHERE account.id = {id_column} AND NOT account.hides_collections)"""  # noqa: S608


def is_shown_to_strangers(id_column: str) -> str:
    """A condition: no moderator keeps the posts of the account in this column from strangers."""
    hidden = ~Restriction.FROZEN
    return f"""NOT EXISTS (SELECT 1 FROM accounts_account account
        WHERE account.id = {id_column} AND account.restrictions & {hidden:d} <> 0)"""  # noqa: S608
