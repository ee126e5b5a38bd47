"""Own acts in Redis, and in the change table, which knows them if Redis has lost them.

    changes.own_acts:v1:{account}   hash; kind:owner:subject:part → id of the change:since:count

The request that acts notes its act, with the count as its account sees it then. The drain removes
the note when the count has moved and the caches have it. In between the account sees the noted
count, and not the cached one: which of the two is newer need not be known, and no act is counted
twice. So the account sees acts of others a moment later.

A missing hash means that nothing is pending. Redis may have lost it: then it has lost the access
tokens of the account too, and who reads a token from the database brings the acts back. A note is
believed for BELIEVED_S. Then the change table is asked: the drain may have been faster than the
note.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script
from infra.caller_acts import NO_ACTS, Acts, NotedAct, OwnAct, note_acts_of_request
from infra.changes.errors import UnknownKind
from infra.changes.lanes import PAUSED_OFFSET, lane_of
from infra.changes.registry import Delivery, Payload, read_payload
from infra.confirmations import Rider, confirm_later
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from infra.telemetry.reached_branches import reached

_LUA = Path(__file__).with_name("lua")
NOTE = load_script(_LUA / "note_act.lua")
SETTLE = load_script(_LUA / "settle_acts.lua")
FAMILY = "changes.own_acts:v1"
TTL_MS = 86_400_000
BELIEVED_S = 10
# Of the newest rows of the lane. Older acts are not brought back after Redis has lost them.
MOST_SEARCHED = 10_000
PENDING = f"""
SELECT id, kind, payload FROM (
    SELECT * FROM changes_change WHERE lane = ANY(%s::int[]) AND state = 0
    ORDER BY id DESC LIMIT {MOST_SEARCHED}
) AS newest WHERE owner_id = %s ORDER BY id
"""  # noqa: S608
STILL_PENDING = "SELECT id FROM changes_change WHERE id = ANY(%s::bigint[])"


def note_commands(deliveries: Iterable[Delivery[Payload]]) -> list[Command]:
    """Note the acts among changes that were committed just now."""
    return [
        _note(d.owner_id, act, NotedAct(d.version, int(time.time()), None if number else d.shown))
        for d in deliveries
        for number, act in enumerate(d.payload.own_acts(d.owner_id))
    ]


def settle_own_acts(deliveries: Iterable[Delivery[Any]], kinds: Collection[int]) -> None:
    """Removes the notes of delivered acts of these kinds. Call it when the caches have the counts.

    In a round trip of its own: a cluster runs the commands of one trip in any order. Raises:
    RedisError.
    """
    settled: dict[int, list[Any]] = {}
    for delivery in deliveries:
        for act in delivery.payload.own_acts(delivery.owner_id):
            if act.kind in kinds:
                settled.setdefault(delivery.owner_id, []).extend((_field(act), delivery.version))
    redis().run([SETTLE.on([key(FAMILY, owner)], *fields) for owner, fields in settled.items()])


def ask_own_acts(account_id: int) -> Question[Acts]:
    """The acts that are noted. One command; while Redis is away, a query."""
    return Question([_read(account_id)], partial(_complete, account_id))


def ask_own_act(account_id: int, act: OwnAct) -> Question[NotedAct | None]:
    """This act, if it is noted. One command."""
    command = ("HGET", key(FAMILY, account_id), _field(act))
    return Question(
        [command], lambda replies: decode(FAMILY, _decode_noted, replies[0]) if replies else None
    )


def watch_own_acts(account_id: int, meta: dict[str, Any]) -> None:
    """Lets a reading request know the acts of its caller: `infra.caller_acts.acts_of_request`.

    `meta`: its headers; with acts it is not answered by 304, because acts are no part of an ETag.
    Cost: one command in the request's first round trip.
    """

    def receive(replies: Sequence[Any] | None) -> None:
        if replies is None or replies[0]:
            meta.pop("HTTP_IF_NONE_MATCH", None)
            note_acts_of_request(partial(_complete, account_id, replies))

    confirm_later(Rider([_read(account_id)], receive, redis().run))


def bring_back_own_acts(account_id: int) -> Acts:
    """The pending acts by the change table, noted again. Their counts are not known.

    Raises: errors of UNREACHABLE. Cost: one query on the account's shard; a round trip if something
    is pending.
    """
    lane, now_s = lane_of(account_id), int(time.time())
    rows = fetch_all(shard_of(account_id), PENDING, ([lane, lane + PAUSED_OFFSET], account_id))
    acts: dict[OwnAct, NotedAct] = {}
    for change_id, kind, payload in rows:
        with suppress(UnknownKind, msgspec.ValidationError):
            for act in read_payload(kind, payload).own_acts(account_id):
                acts[act] = NotedAct(change_id, now_s, None)
    if acts:
        reached("own_acts.brought_back")
        keep_own_acts(account_id, acts)
    return acts


def keep_own_acts(account_id: int, acts: Acts) -> None:
    """Notes these acts again, with what is known of them by now. One round trip, none without acts
    or Redis."""
    with suppress(RedisError):
        redis().run([_note(account_id, *item) for item in acts.items()])


def _complete(account_id: int, replies: Replies) -> Acts:
    if replies is None:
        return bring_back_own_acts(account_id)
    if not replies[0]:
        return NO_ACTS
    acts = decode(FAMILY, _decode, replies[0])
    if acts is None:
        return bring_back_own_acts(account_id)
    limit_s = time.time() - BELIEVED_S
    if all(noted.at_s >= limit_s for noted in acts.values()):
        return acts
    return _check_again(account_id, acts)


def _check_again(account_id: int, acts: Acts) -> Acts:
    """Those of the acts that are still pending; the others are removed. One query."""
    reached("own_acts.checked_again")
    ids = [noted.change_id for noted in acts.values()]
    pending = {row[0] for row in fetch_all(shard_of(account_id), STILL_PENDING, (ids,))}
    now_s = int(time.time())
    left = {a: n._replace(at_s=now_s) for a, n in acts.items() if n.change_id in pending}
    gone = [part for a, n in acts.items() if a not in left for part in (_field(a), n.change_id)]
    with suppress(RedisError):
        settle = [SETTLE.on([key(FAMILY, account_id)], *gone)] if gone else []
        redis().run([*settle, *(_note(account_id, *item) for item in left.items())])
    return left


def _read(account_id: int) -> Command:
    return ("HGETALL", key(FAMILY, account_id))


def _note(account_id: int, act: OwnAct, noted: NotedAct) -> Command:
    shown = b"" if noted.shown is None else b"%d" % noted.shown
    ending = b":%d:%b" % (noted.at_s, shown)
    return NOTE.on([key(FAMILY, account_id)], _field(act), noted.change_id, ending, TTL_MS)


def _field(act: OwnAct) -> bytes:
    return b"%d:%d:%d:%d" % act


def _decode(parts: Sequence[bytes]) -> Mapping[OwnAct, NotedAct]:
    fields, values = parts[::2], parts[1::2]
    return {
        OwnAct(*map(int, field.split(b":"))): _decode_noted(value)
        for field, value in zip(fields, values, strict=True)
    }


def _decode_noted(value: bytes) -> NotedAct:
    change_id, at_s, shown = value.split(b":")
    return NotedAct(int(change_id), int(at_s), int(shown) if shown else None)
