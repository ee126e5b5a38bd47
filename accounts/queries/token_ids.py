"""Access tokens by their ids, for rows that belong to a token."""

from collections.abc import Collection

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

LIVE = """
SELECT t.id FROM accounts_accesstoken AS t JOIN accounts_user AS u ON u.id = t.user_id
WHERE t.id = ANY(%s::bigint[]) AND t.expires > now() AND u.is_active
"""


def find_live_token_ids(ids: Collection[int]) -> set[int]:
    """Those of the tokens that were not ended and whose user may sign in.

    One query by key on the default database.
    """
    if not ids:
        return set()
    return {row[0] for row in fetch_all(GLOBAL_ALIAS, LIVE, (list(ids),))}
