"""Sends events of a span of time once more."""

from collections.abc import Iterator
from datetime import datetime

from infra.api.errors import InvalidRequest
from integrations.queries.events import read_events, site_position_before
from integrations.webhooks.actions import WebhookMissing
from integrations.webhooks.rows import find_webhook
from integrations.webhooks.sender import send_event

PAGE = 1_000


def redeliver_events(webhook_id: int, since: datetime, until: datetime) -> Iterator[int]:
    """Sends what happened from `since` to before `until`; yields how many events of each page.

    Cost: reads all that was delivered from the day of `since` on. Raises: WebhookMissing,
    SecretLost, InvalidRequest for a span that is empty; MessageRefused when the receiver does not
    accept one; OperationalError.
    """
    if since >= until:
        raise InvalidRequest("--since must be before --until")
    webhook = find_webhook(webhook_id)
    if webhook is None:
        raise WebhookMissing
    secrets, position, has_more = webhook.secrets(), site_position_before(since), True
    while has_more:
        page = read_events(position, PAGE)
        if page.missing:
            raise InvalidRequest(f"{', '.join(page.missing)} does not answer; try again later")
        wanted = [
            event
            for event in page.events
            if since <= event.happened_at < until and webhook.wants(event.type)
        ]
        for event in wanted:
            send_event(webhook.url, secrets, event)
        yield len(wanted)
        position, has_more = page.position, page.has_more
