"""The campaigns that accounts hide, in Redis, for up to five minutes.

    timelines.promotions.hidden:v1:{account}   version:fresh until:a JSON list of ids

The version is the number of rows, which only grows. Pages ask only while a campaign runs.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import msgspec

from infra.caching.client import redis
from infra.caching.questions import Question
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

READ = """
SELECT wanted.id, ARRAY(
    SELECT campaign_id FROM promotions_hiddencampaign WHERE owner_id = wanted.id
) FROM unnest(%s::bigint[]) AS wanted (id)
"""
_decode = msgspec.json.Decoder(frozenset[int]).decode


def _load(owner_ids: Sequence[int]) -> Mapping[int, Versioned]:
    calls = {
        alias: partial(fetch_all, alias, READ, (ids,))
        for alias, ids in group_by_shard(owner_ids).items()
    }
    rows = [row for part in scatter(calls).values() for row in part]
    return {owner: Versioned(len(ids), _pack(ids)) for owner, ids in rows}


def _pack(ids: Sequence[int]) -> bytes:
    return msgspec.json.encode(sorted(ids)) if ids else b""


_hidden = ValueCache("timelines.promotions.hidden:v1", ttl_s=300, load=_load, check=_decode)


def ask_hidden(owner_id: int) -> Question[frozenset[int]]:
    """The campaigns that the account hides. Cost: one command; one query when Redis lacks them."""
    asked = _hidden.ask_uncopied([owner_id])
    return asked.then(lambda payloads: _unpack(payloads.get(owner_id)))


def _unpack(payload: bytes | None) -> frozenset[int]:
    return _decode(payload) if payload else frozenset()


def end_hidden_of(owner_id: int) -> None:
    """Ends the entry. Call it after the commit. Without Redis: before its next use."""
    redis().send(_end, items=[owner_id])


def _end(owner_ids: Collection[int]) -> None:
    redis().run(_hidden.drop_commands(owner_ids))
