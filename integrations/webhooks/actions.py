"""What an operator does with webhooks. Each is one statement on the default database.

Sends events of a span of time once more.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from django.db.models import F

from infra.api.errors import InvalidRequest, NotFound
from infra.outgoing.addresses import is_endpoint
from infra.sealing import seal
from infra.sharding.placement import GLOBAL_ALIAS
from integrations.events import TYPES
from integrations.models import LONGEST_URL, Webhook
from integrations.positions import encode_position
from integrations.queries.events import read_events, site_position_before
from integrations.types import SitePosition, WebhookState
from integrations.webhooks.rows import SECRETS, find_webhook
from integrations.webhooks.sender import make_secret, send_event

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


# After a change both secrets sign for so long, so that the receiver has time to change its own.
ROTATION = timedelta(hours=24)


class WebhookMissing(NotFound):
    """There is no webhook with this id."""

    text = "There is no webhook with this id"


def create_webhook(url: str, types: Collection[str], after: SitePosition) -> tuple[Webhook, str]:
    """The new webhook, and its secret, which is shown once. Raises: InvalidRequest."""
    if len(url) > LONGEST_URL or not is_endpoint(url):
        raise InvalidRequest("the address must be https, and public")
    if unknown := set(types).difference(TYPES):
        raise InvalidRequest(f"no event has the type {', '.join(sorted(unknown))}")
    secret = make_secret()
    webhook = Webhook(
        url=url,
        types=sorted(types),
        sealed_secret=seal(SECRETS, secret),
        position=encode_position(after),
    )
    webhook.save(force_insert=True)
    return webhook, secret


def change_secret(webhook_id: int) -> str:
    """The new secret. The old one signs too for ROTATION. Raises: WebhookMissing."""
    webhook, secret = get_webhook(webhook_id), make_secret()
    values = {"sealed_secret": seal(SECRETS, secret), "sealed_old_secret": webhook.sealed_secret}
    _update(webhook_id, old_until=datetime.now(UTC) + ROTATION, **values)
    return secret


def pause_webhook(webhook_id: int) -> None:
    """No message begins after some seconds. Raises: WebhookMissing."""
    _update(webhook_id, state=WebhookState.PAUSED)


def resume_webhook(webhook_id: int, after: SitePosition | None) -> None:
    """Goes on at once, where it stopped or behind this position. Raises: WebhookMissing."""
    now = datetime.now(UTC)
    fresh = {"failures": 0, "failing_since": None, "error": "", "next_attempt_at": now}
    moved: dict[str, object] = {}
    if after is not None:
        # The token ends a claim whose sender would write its own position.
        moved = {"position": encode_position(after), "token": F("token") + 1, "claimed_until": now}
    _update(webhook_id, state=WebhookState.ACTIVE, **fresh, **moved)


def delete_webhook(webhook_id: int) -> None:
    """Raises: WebhookMissing."""
    if not Webhook.objects.using(GLOBAL_ALIAS).filter(pk=webhook_id).delete()[0]:
        raise WebhookMissing


def get_webhook(webhook_id: int) -> Webhook:
    """Raises: WebhookMissing."""
    webhook = Webhook.objects.using(GLOBAL_ALIAS).filter(pk=webhook_id).first()
    if webhook is None:
        raise WebhookMissing
    return webhook


def _update(webhook_id: int, **values: object) -> None:
    if not Webhook.objects.using(GLOBAL_ALIAS).filter(pk=webhook_id).update(**values):
        raise WebhookMissing
