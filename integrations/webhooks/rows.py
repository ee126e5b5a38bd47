"""Statements on webhooks. A process claims one before it sends, and keeps what it has sent.

Each statement of a sender has the token of its claim, so a sender that was replaced writes nothing.

How sending to webhooks goes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from infra.sealing import unseal
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one
from integrations.positions import decode_position, encode_position
from integrations.types import SitePosition, WebhookState

SECRETS = "integrations.webhooks"
# A claim is renewed with each turn of messages. A sender that died is replaced after that.
CLAIM_S = 30
# Seconds until the next attempt, after so many failures in a row; and how long they may last.
WAITS_S = (1, 5, 30, 120, 600, 1_800, 3_600)
PATIENCE_S = 3 * 24 * 3_600
LONGEST_ERROR = 500
COLUMNS = """
id, token, url, types, sealed_secret,
CASE WHEN old_until > clock_timestamp() THEN sealed_old_secret END, position
"""
FIND = f"SELECT {COLUMNS} FROM integrations_webhook WHERE id = %s"  # noqa: S608
# No claim and no wait is so long: the clock of the database went back since.
IS_TAKEN_BACK = f"""(claimed_until > clock_timestamp() + {2 * CLAIM_S} * interval '1 second'
        OR next_attempt_at > clock_timestamp() + {2 * WAITS_S[-1]} * interval '1 second')"""
CLAIM = f"""
UPDATE integrations_webhook
SET token = token + 1, claimed_until = clock_timestamp() + {CLAIM_S} * interval '1 second',
    next_attempt_at = least(next_attempt_at, clock_timestamp())
WHERE id IN (
    SELECT id FROM integrations_webhook
    WHERE state = {WebhookState.ACTIVE:d} AND claimed_until < clock_timestamp()
        AND next_attempt_at < clock_timestamp()
        OR state = {WebhookState.ACTIVE:d} AND {IS_TAKEN_BACK}
    ORDER BY next_attempt_at LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING {COLUMNS}
"""  # noqa: S608
# A webhook that was paused, or that goes to another sender, is given back.
KEEP = f"""
UPDATE integrations_webhook
SET position = %(position)s, complete_at = greatest(complete_at, %(complete_at)s), failures = 0,
    failing_since = NULL, error = '', next_attempt_at = clock_timestamp(),
    claimed_until = clock_timestamp() + CASE WHEN state = {WebhookState.ACTIVE:d}
        AND NOT %(is_last)s THEN {CLAIM_S} ELSE 0 END * interval '1 second'
WHERE id = %(id)s AND token = %(token)s
RETURNING state = {WebhookState.ACTIVE:d} AND NOT %(is_last)s, {COLUMNS}
"""  # noqa: S608
# Failures after a message that was accepted are counted from one again. Another process may go on
# after a wait that grows with the failures; after PATIENCE_S only an operator may.
FAIL = f"""
UPDATE integrations_webhook AS hook
SET position = %(position)s, failures = new.failures, failing_since = new.since, error = %(error)s,
    claimed_until = clock_timestamp(),
    next_attempt_at = clock_timestamp() + %(waits)s[least(new.failures, {len(WAITS_S)})]
        * interval '1 second',
    state = CASE
        WHEN %(is_final)s OR new.since < clock_timestamp() - {PATIENCE_S} * interval '1 second'
        THEN {WebhookState.PARKED:d} ELSE state
    END
FROM (
    SELECT CASE WHEN %(has_sent)s THEN 1 ELSE failures + 1 END AS failures,
        CASE WHEN %(has_sent)s THEN clock_timestamp()
        ELSE coalesce(failing_since, clock_timestamp()) END AS since
    FROM integrations_webhook WHERE id = %(id)s
) AS new
WHERE id = %(id)s AND token = %(token)s RETURNING state
"""  # noqa: S608


class SecretLost(ValueError):
    """Another SECRET_KEY sealed the secret of a webhook."""


class ClaimedWebhook(NamedTuple):
    """`token`: of the claim. `types`: of the events; empty: all. `sealed`: the secret of now and,
    while it is changed, the one before."""

    id: int
    token: int
    url: str
    types: frozenset[str]
    sealed: tuple[bytes, ...]
    position: SitePosition

    def wants(self, event_type: str) -> bool:
        return not self.types or event_type in self.types

    def secrets(self) -> list[str]:
        """In clear. One from before another SECRET_KEY is left out. Raises: SecretLost."""
        secret, *old = (unseal(SECRETS, each) for each in self.sealed)
        if secret is None:
            raise SecretLost("another SECRET_KEY sealed its secret: make a new one")
        return [secret, *(each for each in old if each is not None)]


def claim_webhooks(most: int) -> list[ClaimedWebhook]:
    """Takes active webhooks that no process sends for now. One statement."""
    return [_webhook(row) for row in fetch_all(GLOBAL_ALIAS, CLAIM, (most,))]


def find_webhook(webhook_id: int) -> ClaimedWebhook | None:
    """One of them, whether a process sends it or not. One query."""
    row = fetch_one(GLOBAL_ALIAS, FIND, (webhook_id,))
    return None if row is None else _webhook(row)


def keep_position(
    claimed: ClaimedWebhook, position: SitePosition, *, is_last: bool
) -> ClaimedWebhook | None:
    """Everything before the position was sent; renews the claim, or gives it back (`is_last`).

    The webhook as it is now; None if it was given back, or another process has it. One statement.
    """
    values = {
        "position": encode_position(position),
        "complete_at": min((each.complete_at for each in position.by_alias.values()), default=None),
        "is_last": is_last,
        "id": claimed.id,
        "token": claimed.token,
    }
    row = fetch_one(GLOBAL_ALIAS, KEEP, values)
    return _webhook(row[1:]) if row is not None and row[0] else None


def note_failure(
    claimed: ClaimedWebhook, position: SitePosition, error: str, *, has_sent: bool, is_final: bool
) -> WebhookState | None:
    """Gives the webhook back. It is parked if the failure is final, or if messages have failed for
    longer than PATIENCE_S. `has_sent`: one was accepted since the last failure. Returns its state;
    None: another process has it. One statement.
    """
    values = {
        "position": encode_position(position),
        "error": error[:LONGEST_ERROR],
        "waits": [*WAITS_S],
        "has_sent": has_sent,
        "is_final": is_final,
        "id": claimed.id,
        "token": claimed.token,
    }
    row = fetch_one(GLOBAL_ALIAS, FAIL, values)
    return None if row is None else WebhookState(row[0])


def _webhook(row: Sequence[Any]) -> ClaimedWebhook:
    webhook_id, token, url, types, secret, old_secret, position = row
    sealed = tuple(bytes(each) for each in (secret, old_secret) if each is not None)
    return ClaimedWebhook(
        webhook_id, token, url, frozenset(orjson.loads(types)), sealed, decode_position(position)
    )


LIST = """
SELECT id, state, url, types, failures, error,
    greatest(extract(epoch FROM clock_timestamp() - complete_at), 0)::float
FROM integrations_webhook ORDER BY id
"""


class ShownWebhook(NamedTuple):
    """`behind_s`: all events that are older were sent."""

    id: int
    state: str
    url: str
    types: Sequence[str]
    failures: int
    error: str
    behind_s: float


def list_webhooks() -> list[ShownWebhook]:
    """All of them, the oldest first. One query."""
    rows = fetch_all(GLOBAL_ALIAS, LIST)
    return [_shown(*row) for row in rows]


def _shown(
    webhook_id: int, state: int, url: str, types: str, failures: int, error: str, behind_s: float
) -> ShownWebhook:
    name = WebhookState(state).name.lower()
    return ShownWebhook(webhook_id, name, url, orjson.loads(types), failures, error, behind_s)
