"""The threads of a compensator that send webhooks, one for each webhook that it has claimed.

So a slow receiver delays neither other webhooks nor the compensator.
"""

import threading
import time
from collections.abc import Callable
from functools import partial

import structlog
from django.db import connections

from infra.sharding.errors import NO_ANSWER
from integrations.webhooks.rows import ClaimedWebhook, claim_webhooks
from integrations.webhooks.sender import send_claimed

# When all threads have a webhook, each gives its own back after a stint: others may wait for one.
MOST_THREADS, STINT_S = 16, 30.0
log = structlog.get_logger()


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
