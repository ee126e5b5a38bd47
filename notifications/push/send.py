"""Sends requests to push services, with a deadline for each and one for all."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from enum import Enum
from functools import cache
from http.client import HTTPException
from urllib.parse import urlsplit

import structlog

from infra.outgoing.addresses import ForbiddenAddress
from infra.outgoing.requests import post
from notifications.push.message import PushRequest

# A push service that is slower loses the message. The notification itself is in the list.
REQUEST_S = 3.0
BATCH_S = 10.0
THREADS = 8
log = structlog.get_logger()


class PushOutcome(Enum):
    """What became of a message. The value is the label of the metric."""

    SENT = "sent"
    GONE = "gone"  # the subscription ended: 404 or 410
    REFUSED = "refused"  # another answer, or an address that is not allowed
    LATE = "late"  # no answer in time, or no time left


def send_all(requests: Sequence[PushRequest]) -> list[PushOutcome]:
    """The outcome of each request. It returns after BATCH_S seconds at the latest.

    A host that was late once gets no other request of this batch.
    """
    late_hosts: set[str] = set()
    futures = [_executor().submit(send, request, late_hosts) for request in requests]
    wait(futures, timeout=BATCH_S)
    return [_outcome_of(future) for future in futures]


def _outcome_of(future: Future[PushOutcome]) -> PushOutcome:
    if future.done():
        return future.result()
    future.cancel()
    return PushOutcome.LATE


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="push")


def send(request: PushRequest, late_hosts: set[str]) -> PushOutcome:
    """Sends one request."""
    host = urlsplit(request.url).netloc
    if host in late_hosts:
        return PushOutcome.LATE
    try:
        status = post(request.url, request.headers, request.body, REQUEST_S)
    except ForbiddenAddress:
        return PushOutcome.REFUSED
    except (OSError, HTTPException, ValueError) as error:
        log.info("push.failed", error=str(error))
        late_hosts.add(host)
        return PushOutcome.LATE
    if status in (404, 410):
        return PushOutcome.GONE
    return PushOutcome.SENT if 200 <= status < 300 else PushOutcome.REFUSED
