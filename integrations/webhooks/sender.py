"""Sends the events of one webhook in their order, while this process has the claim on it."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from http.client import HTTPException

import structlog

from infra.changes.errors import PositionTooOld
from infra.outgoing.post import post
from infra.sharding.errors import NO_ANSWER
from integrations.metrics import MESSAGES
from integrations.queries.events import read_events
from integrations.sinks import encode_event
from integrations.types import Event, WebhookState
from integrations.webhooks.rows import (
    ClaimedWebhook,
    SecretLost,
    keep_position,
    note_failure,
)
from integrations.webhooks.signatures import sign

# A message without an answer in REQUEST_S has failed. The position is kept, and the claim renewed,
# after TURN_S: a sender that is killed sends the messages of one turn again.
REQUEST_S, TURN_S, QUIET_S, PAGE = 10.0, 5.0, 1.0, 100
GONE = 410
log = structlog.get_logger()


class MessageRefused(Exception):
    """The receiver did not accept a message. `is_final`: it wants no more (410)."""

    is_final = False


class MessagesEnded(MessageRefused):
    """The receiver answered 410: it wants no more messages."""

    is_final = True


def send_claimed(claimed: ClaimedWebhook) -> None:
    """Until a message fails, or the claim is lost: the webhook was paused, deleted, or taken over.

    Raises: OperationalError when the default database is away; then the claim runs out.
    """
    webhook: ClaimedWebhook | None = claimed
    while webhook is not None:
        turn = Turn(webhook)
        try:
            turn.send()
        except (PositionTooOld, SecretLost, MessageRefused, *NO_ANSWER) as error:
            return _give_up(turn, error)
        webhook = keep_position(webhook, turn.position, turn.complete_at)
        if webhook is not None and not turn.has_more:
            time.sleep(QUIET_S)
    return None


class Turn:
    """Some seconds of messages.

    `position`: behind the last that was accepted. `has_more`: there are more already.
    `complete_at`: all events from before were sent; None: not known.
    """

    def __init__(self, webhook: ClaimedWebhook) -> None:
        self.webhook, self.position, self.has_more = webhook, webhook.position, True
        self.complete_at: datetime | None = None

    def send(self) -> None:
        """Raises: MessageRefused, SecretLost, PositionTooOld; OperationalError."""
        secrets, end = self.webhook.secrets(), time.monotonic() + TURN_S
        while self.has_more and time.monotonic() < end:
            began_at = datetime.now(UTC)
            page = read_events(self.position, PAGE)
            for event in page.events:
                if time.monotonic() >= end:
                    return
                if self.webhook.wants(event.type):
                    send_event(self.webhook.url, secrets, event)
                self.position = self.position.behind(event)
            self.position = page.position
            self.has_more = page.has_more
            self.complete_at = None if page.has_more or page.missing else began_at


def _give_up(turn: Turn, error: Exception) -> None:
    """Another process goes on later, or an operator."""
    is_final = getattr(error, "is_final", not isinstance(error, NO_ANSWER))
    state = note_failure(turn.webhook, turn.position, str(error), is_final=is_final)
    is_parked = state is WebhookState.PARKED
    log.warning("webhook.failed", id=turn.webhook.id, error=str(error), is_parked=is_parked)


def send_event(url: str, secrets: Sequence[str], event: Event) -> None:
    """Posts one event. Raises: MessageRefused."""
    body, at_s = encode_event(event), int(time.time())
    headers = {"Content-Type": "application/json", "User-Agent": "Tideline"}
    try:
        status = post(url, headers | sign(secrets, event.id, at_s, body), body, REQUEST_S)
    except (OSError, HTTPException, ValueError) as error:
        MESSAGES.labels("failed").inc()
        raise MessageRefused(f"{event.id}: {error or type(error).__name__}") from None
    if not 200 <= status < 300:
        MESSAGES.labels("refused").inc()
        kind = MessagesEnded if status == GONE else MessageRefused
        raise kind(f"{event.id}: status {status}")
    MESSAGES.labels("sent").inc()
