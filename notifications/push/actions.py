"""Web Push of notifications.

Sends requests to push services, with a deadline for each and one for all.

Pushes notifications to the devices of their owner.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from enum import Enum
from functools import cache
from http.client import HTTPException
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog

from accounts.queries.tokens import find_live_token_ids
from accounts.queries.users import find_language
from infra.outgoing.addresses import ForbiddenAddress
from infra.outgoing.requests import post
from infra.sealing import unseal
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.metrics import PUSHES
from notifications.push.message import PushRequest, encrypt_for, write_message
from notifications.push.rows import delete_subscriptions, read_subscriptions
from notifications.push.types import TOKENS, PushAudience, Subscription
from notifications.queries.rows import read_rows_to_push, with_undone
from notifications.queries.viewed_notifications import ViewedNotification, view_notifications
from notifications.types import NotificationKind, Verdict
from relations.queries.relationships import load_relationships

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


MARK = """
UPDATE notifications_notification SET is_to_push = false
WHERE owner_id = %s AND id = ANY(%s::bigint[]) AND is_to_push
"""


class PlannedPush(NamedTuple):
    """One message to one subscription."""

    subscription: Subscription
    request: PushRequest


def push_all(added: Sequence[tuple[int, Sequence[int]]], now_ms: int) -> None:
    """Sends these notifications, by owner, to the subscriptions that want them.

    What the owner may not see any more is not sent. A message that fails is lost, because the
    notification is in the list; a subscription that ended is deleted. Safety: what was sent is not
    sent again, unless the process dies before it marked the rows. Cost: four queries, two of the
    default database, and `view` for each owner; and at most send.BATCH_S seconds.
    """
    planned = [message for owner_id, ids in added for message in _plan(owner_id, ids, now_ms)]
    outcomes = send_all([message.request for message in planned])
    for message, outcome in zip(planned, outcomes, strict=True):
        PUSHES.labels(outcome.value).inc()
        if outcome is PushOutcome.GONE:
            target = message.subscription
            delete_subscriptions(target.account_id, [target.token_id], target.target.endpoint)
    for owner_id, ids in added:
        _mark_pushed(owner_id, ids)


def _plan(owner_id: int, ids: Sequence[int], now_ms: int) -> Iterator[PlannedPush]:
    subscriptions = _find_live(owner_id)
    if not subscriptions:
        return
    unsent = with_undone(owner_id, read_rows_to_push(owner_id, ids))
    shown = [
        notification
        for notification in view_notifications(owner_id, unsent, now_ms)
        if notification.verdict is Verdict.SHOWN
    ]
    audiences, language = _audiences(owner_id, shown), find_language(owner_id)
    for notification in shown:
        for subscription in subscriptions:
            token = unseal(TOKENS, subscription.sealed_token)
            kind = NotificationKind(notification.row.kind)
            wishes = subscription.wishes
            is_for = wishes.audience in audiences[notification.row.from_id] and wishes.wants(
                kind.public
            )
            if token is not None and is_for:
                message = write_message(notification, token, language)
                request = encrypt_for(subscription.target, message, now_ms // 1000)
                yield PlannedPush(subscription, request)


def _find_live(owner_id: int) -> list[Subscription]:
    """Those whose token still is valid. The others are deleted."""
    subscriptions = read_subscriptions(owner_id)
    live = find_live_token_ids([subscription.token_id for subscription in subscriptions])
    ended = [
        subscription.token_id for subscription in subscriptions if subscription.token_id not in live
    ]
    if ended:
        delete_subscriptions(owner_id, ended)
    return [subscription for subscription in subscriptions if subscription.token_id in live]


def _audiences(owner_id: int, shown: Sequence[ViewedNotification]) -> dict[int, set[PushAudience]]:
    """To which audiences of the owner each actor belongs."""
    actors = list(dict.fromkeys(notification.row.from_id for notification in shown))
    return {
        actor: {
            PushAudience.ALL,
            *([PushAudience.FOLLOWED] if known.is_followed else []),
            *([PushAudience.FOLLOWER] if known.follows_me else []),
        }
        for actor, known in load_relationships(owner_id, actors).items()
    }


def _mark_pushed(owner_id: int, ids: Sequence[int]) -> None:
    """Their messages were sent, or given up. Safety: idempotent. Cost: one statement."""
    execute(shard_of(owner_id), MARK, (owner_id, list(ids)))
