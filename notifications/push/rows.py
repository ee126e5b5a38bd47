"""Reads, writes and deletes subscriptions: rows on the account's shard."""

from collections.abc import Collection

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from notifications.push.types import PushAudience, PushTarget, PushWishes, Subscription

# Messages of one notification. An account has one subscription for each device.
MOST_OF_AN_ACCOUNT = 40
COLUMNS = """
account_id, token_id, endpoint, p256dh, auth, is_standard, alerts, audience, sealed_token
"""
READ = f"""
SELECT {COLUMNS} FROM push_pushsubscription WHERE account_id = %s
    AND (%s::bigint IS NULL OR token_id = %s) ORDER BY token_id DESC LIMIT {MOST_OF_AN_ACCOUNT}
"""  # noqa: S608
WRITE = f"""
INSERT INTO push_pushsubscription ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (account_id, token_id) DO UPDATE SET endpoint = excluded.endpoint,
    p256dh = excluded.p256dh, auth = excluded.auth, is_standard = excluded.is_standard,
    alerts = excluded.alerts, audience = excluded.audience, sealed_token = excluded.sealed_token
"""  # noqa: S608
CHANGE = """
UPDATE push_pushsubscription SET alerts = %s, audience = %s WHERE account_id = %s AND token_id = %s
"""
DELETE = """
DELETE FROM push_pushsubscription WHERE account_id = %s AND token_id = ANY(%s::bigint[])
    AND (%s::text IS NULL OR endpoint = %s)
"""


def read_subscriptions(account_id: int) -> list[Subscription]:
    """The newest subscriptions of an account. One query by key."""
    return _read(account_id, None)


def find_subscription(account_id: int, token_id: int) -> Subscription | None:
    """That of one token. One query by key."""
    subscriptions = _read(account_id, token_id)
    return subscriptions[0] if subscriptions else None


def write_subscription(subscription: Subscription) -> None:
    """Creates or replaces the subscription of a token. Safety: idempotent. One statement."""
    target, wishes = subscription.target, subscription.wishes
    values = (*target, wishes.alerts, int(wishes.audience), subscription.sealed_token)
    execute(
        shard_of(subscription.account_id),
        WRITE,
        (subscription.account_id, subscription.token_id, *values),
    )


def change_wishes(account_id: int, token_id: int, wishes: PushWishes) -> bool:
    """False: the token has no subscription. Safety: idempotent. One statement."""
    values = (wishes.alerts, int(wishes.audience), account_id, token_id)
    return bool(execute(shard_of(account_id), CHANGE, values))


def delete_subscriptions(
    account_id: int, token_ids: Collection[int], endpoint: str | None = None
) -> None:
    """`endpoint`: only while they still have this one. Safety: idempotent. One statement."""
    values = (account_id, list(token_ids), endpoint, endpoint)
    execute(shard_of(account_id), DELETE, values)


def _read(account_id: int, token_id: int | None) -> list[Subscription]:
    rows = fetch_all(shard_of(account_id), READ, (account_id, token_id, token_id))
    return [
        Subscription(
            row[0],
            row[1],
            PushTarget(*row[2:6]),
            PushWishes(row[6], PushAudience(row[7])),
            bytes(row[8]),
        )
        for row in rows
    ]
