"""Sends the events of one webhook in their order, while this process has the claim on it.

The threads of a compensator that send webhooks, one for each webhook that it has claimed.

So a slow receiver delays neither other webhooks nor the compensator.

Signatures of the Standard Webhooks specification.

https://github.com/standard-webhooks/standard-webhooks: `v1,` and the HMAC-SHA256 of id, time and
body in base64. A secret is `whsec_` and 24 to 64 bytes in base64.
"""

import hashlib
import hmac
import os
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from http.client import HTTPException

import structlog
from django.db import connections

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
    claim_webhooks,
    keep_position,
    note_failure,
)

PREFIX, SECRET_BYTES = "whsec_", 32


def make_secret() -> str:
    """A new random secret."""
    return PREFIX + b64encode(os.urandom(SECRET_BYTES)).decode()


def sign(secrets: Iterable[str], message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its id, its time, and a signature by each secret."""
    signed = b"%b.%d.%b" % (message_id.encode(), at_s, body)
    signatures = (_signature(secret, signed) for secret in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = b64decode(secret.removeprefix(PREFIX))
    return "v1," + b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


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


# When all threads have a webhook, each gives its own back after a stint: others may wait for one.
MOST_THREADS, STINT_S = 16, 30.0


class SendingThreads:
    """Those of this process."""

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._running: list[threading.Thread] = []

    def start_due(self) -> None:
        """Claims webhooks that no process sends, while there are threads. One statement."""
        self._running = [thread for thread in self._running if thread.is_alive()]
        free = max(self._most - len(self._running), 0)
        for webhook in claim_webhooks(free) if free else ():
            name = f"webhook-{webhook.id}"
            wanted = partial(self._is_wanted, time.monotonic() + STINT_S)
            thread = threading.Thread(target=_send, args=(webhook, wanted), name=name, daemon=True)
            thread.start()
            self._running.append(thread)

    def _is_wanted(self, until: float) -> bool:
        """Whether a thread that began its webhook so long ago goes on with it. Others may wait."""
        return time.monotonic() < until or len(self._running) < self._most


def _send(webhook: ClaimedWebhook, is_wanted: Callable[[], bool]) -> None:
    """A daemon thread: at the end of the process its claim runs out, and another one goes on."""
    try:
        send_claimed(webhook, is_wanted)
    except NO_ANSWER as error:
        log.warning("webhook.database_away", id=webhook.id, error=str(error))
    finally:
        connections.close_all()


_threads = SendingThreads()


def send_webhooks(alias: str) -> None:
    """The periodic task, on the default database only. The threads go on after it."""
    del alias
    _threads.start_due()
