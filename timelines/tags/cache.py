"""The home tags of accounts in Redis: followed tags whose posts their home timelines show.

    timelines.home_tags:v1:{account}   version:fresh until:a JSON list of normalized tags, sorted

Empty for an account without home tags, as most are. A change of the list replaces the entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from accounts.texts.links import normalize_tag
from infra.caching.questions import Question
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

# One statement, hence one snapshot: the tags match the version exactly.
READ = """
SELECT wanted.id, COALESCE(settings.version, 0), ARRAY(
    SELECT name FROM tags_accounttag WHERE owner_id = wanted.id AND kind = 0 AND settings.is_at_home
)
FROM unnest(%s::bigint[]) AS wanted (id)
LEFT JOIN tags_tagsettings AS settings ON settings.owner_id = wanted.id
"""
HomeTags = tuple[str, ...]
_decode = msgspec.json.Decoder(HomeTags).decode


def _load(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    calls = {
        alias: partial(fetch_all, alias, READ, (ids,))
        for alias, ids in group_by_shard(account_ids).items()
    }
    rows = [row for part in scatter(calls).values() for row in part]
    return {account_id: Versioned(version, _pack(names)) for account_id, version, names in rows}


def _pack(names: Iterable[str]) -> bytes:
    tags = sorted(map(normalize_tag, names))
    return msgspec.json.encode(tags) if tags else b""


_home_tags = ValueCache("timelines.home_tags:v1", ttl_s=86_400, load=_load, check=_decode)


def ask_home_tags(account_id: int) -> Question[HomeTags]:
    """The account's home tags, normalized; none unless it wants their posts at home.

    Cost: one command; one query and two more round trips when Redis lacks them.
    """
    asked = _home_tags.ask_uncopied([account_id])
    return asked.then(lambda payloads: _unpack(payloads.get(account_id)))


def _unpack(payload: bytes | None) -> HomeTags:
    return _decode(payload) if payload else ()


def refresh_home_tags(account_ids: Iterable[int]) -> None:
    """Writes the current home tags to the entries that Redis has. One query a shard, one round
    trip, which is shared inline. Raises: RedisError, so that the consumer runs again."""
    _home_tags.refresh(_load(list(dict.fromkeys(account_ids))))
