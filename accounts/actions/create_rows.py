"""Writes the rows of new accounts to their shard."""

from collections.abc import Mapping

import msgspec

from accounts.changes import UserCreated
from accounts.sql import CREATE_ACCOUNTS
from infra.sharding.sql import fetch_all


def create_account_rows(alias: str, created: Mapping[int, UserCreated]) -> set[int]:
    """Returns the ids of those that the shard lacked; the rows of others stay as they are.

    All accounts belong to this shard. Safety: idempotent. Cost: one statement.
    """
    users = list(created.values())
    columns = (
        list(created),
        [user.username for user in users],
        [user.display_name for user in users],
        [user.note for user in users],
        [user.created_at for user in users],
        [user.is_locked for user in users],
        [user.is_bot for user in users],
        [user.is_discoverable for user in users],
        [msgspec.json.encode(user.fields).decode() for user in users],
    )
    return {row[0] for row in fetch_all(alias, CREATE_ACCOUNTS, columns)}
