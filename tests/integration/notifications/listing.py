"""Reads notifications through HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from infra.changes.replay import ReplayFilter, iter_delivered, replay_batch
from notifications.models import Notification
from tests.callers import Caller
from tests.world import drain_all

V1, V2 = "/api/v1/notifications", "/api/v2/notifications"


def body(answer: Any) -> Any:
    assert answer.status_code == 200, answer.content
    return answer.json()


def told(caller: Caller, query: Any = None) -> list[tuple[str, str, str | None]]:
    """What a list of notifications says: type, account, status."""
    return [
        (one["type"], one["account"]["id"], one.get("status", {}).get("id"))
        for one in body(caller.get(V1, query))
    ]


def rows(owner_id: int) -> list[tuple[Any, ...]]:
    """All that the shard has of an owner's notifications."""
    return sorted(Notification.objects.of(owner_id).values_list())


def replay_everything(*aliases: str) -> None:
    """Delivers all changes again, the newest batch first, one change at a time. By default those of
    all shards."""
    now = datetime.now(UTC)
    span = ReplayFilter(now - timedelta(days=1), now + timedelta(days=1))
    for alias in aliases or settings.SHARD_ALIASES:
        for page in reversed(list(iter_delivered(alias, span, 1))):
            assert replay_batch(alias, page.rows) == []
    drain_all()
