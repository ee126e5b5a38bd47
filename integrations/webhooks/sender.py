"""Sends the events of one webhook in their order, while this process has the claim on it."""

import time
from collections.abc import Callable, Sequence
from http.client import HTTPException

import structlog

from infra.changes.errors import PositionTooOld
from infra.outgoing.requests import post
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
    """The receiver did not accept a message."""


class MessagesEnded(MessageRefused):
    """The receiver answered 410: it wants no more messages."""


# Only an operator can help.
FINAL = (MessagesEnded, PositionTooOld, SecretLost)


def send_claimed(claimed: ClaimedWebhook, is_wanted: Callable[[], bool] = lambda: True) -> None:
    """Until a message fails, the thread is wanted elsewhere, or the claim is lost: the webhook was
    paused, deleted, or taken over.

    Raises: OperationalError when the default database is away; then the claim runs out.
    """
    webhook: ClaimedWebhook | None = claimed
    while webhook is not None:
        turn = Turn(webhook)
        try:
            turn.send()
        except Exception as error:  # also an unforeseen one must be seen and counted
            return _give_up(turn, error)
        webhook = keep_position(webhook, turn.position, is_last=not is_wanted())
        if webhook is not None and not turn.has_more:
            time.sleep(QUIET_S)
    return None


class Turn:
    """Some seconds of messages.

    `position`: behind the last that was accepted. `has_sent`: one was. `has_more`: there are more
    already.
    """

    def __init__(self, webhook: ClaimedWebhook) -> None:
        self.webhook, self.position, self.has_more = webhook, webhook.position, True
        self.has_sent = False

    def send(self) -> None:
        """Raises: MessageRefused, SecretLost, PositionTooOld; OperationalError."""
        secrets, end = self.webhook.secrets(), time.monotonic() + TURN_S
        while self.has_more and time.monotonic() < end:
            page = read_events(self.position, PAGE)
            for event in page.events:
                if self.webhook.wants(event.type):
                    send_event(self.webhook.url, secrets, event)
                    self.has_sent = True
                self.position = self.position.behind(event)
                if time.monotonic() >= end:
                    return
            self.position = page.position
            self.has_more = page.has_more


def _give_up(turn: Turn, error: Exception) -> None:
    """Another process goes on later, or an operator."""
    is_final, text = isinstance(error, FINAL), str(error) or type(error).__name__
    state = note_failure(
        turn.webhook, turn.position, text, has_sent=turn.has_sent, is_final=is_final
    )
    is_parked = state is WebhookState.PARKED
    trace = not isinstance(error, (MessageRefused, *FINAL, *NO_ANSWER))
    log.warning(
        "webhook.failed", id=turn.webhook.id, error=text, is_parked=is_parked, exc_info=trace
    )


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
