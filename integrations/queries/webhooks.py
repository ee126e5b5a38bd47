"""How sending to webhooks goes."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all
from integrations.types import WebhookState

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
