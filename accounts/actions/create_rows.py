"""Writes the rows of new accounts to their shard."""

from collections.abc import Mapping

import msgspec

from accounts.changes import UserCreated
from accounts.sql import CREATE_ACCOUNTS
from accounts.types import ServiceObject
from infra.sharding.sql import fetch_all


def encode_object(service_object: ServiceObject | None) -> str | None:
    """The column `service_object` of an account."""
    return None if service_object is None else msgspec.json.encode(service_object).decode()


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
        [encode_object(user.service_object) for user in users],
    )
    return {row[0] for row in fetch_all(alias, CREATE_ACCOUNTS, columns)}
