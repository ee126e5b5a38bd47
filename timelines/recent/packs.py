"""Authors' newest posts, packed in Redis: what a pull reads with RECENT_INDEX=by_author.

    timelines.recent:v1:{author}        the pack (records.py)
    timelines.recent:v1:{author}:load   load token

A pack is loaded from the author's shard when a reader needs it. After that the drain appends what
it has written to the shard: one script for each author. A load that began before is refused, since
the script deletes its token. So a pack has all that the shard has, or is missing. A record that is
appended twice changes nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.keys import jittered_ms, key, keys
from infra.caching.load_tokens import END_LOAD, LoadTokens, token_key, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, Replies, answer, ask_keys
from infra.caching.scripts import load_script
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from timelines.recent.queries.own_posts import MOST, read_packs
from timelines.recent.records import HEAD, RECORD, VISIBLE_MS, Arrival, Pack

FAMILY = "timelines.recent:v1"
TTL_S = 8 * 86_400
# A pack is cut so far, by the append that makes it an eighth longer.
LEAST_BYTES = HEAD.size + MOST * RECORD.size
MOST_BYTES = LEAST_BYTES + MOST // 8 * RECORD.size
_LUA = Path(__file__).with_name("lua")
APPEND = load_script(_LUA / "append_pack.lua")
WRITE = load_script(END_LOAD, _LUA / "write_pack.lua")


def load_packs(author_ids: Collection[int]) -> dict[int, Pack]:
    """The packs of these authors. Raises: OperationalError, InterfaceError when Redis lacks a pack
    and the author's shard does not answer.

    Cost: one round trip; for authors that Redis lacks two more, and one query on each shard.
    """
    wanted = list(dict.fromkeys(author_ids))
    packs = answer(_ask(wanted))
    missing = [author_id for author_id in wanted if author_id not in packs]
    return {**packs, **_loads.load_missing(missing)} if missing else packs


def append_to_packs(arrivals: Iterable[Arrival]) -> None:
    """Adds what was just written to the authors' shards. Raises: RedisError.

    Safety: idempotent. Cost: one round trip, one script an author.
    """
    by_author: dict[int, list[bytes]] = {}
    for arrival in sorted(arrivals, key=VISIBLE_MS):
        by_author.setdefault(arrival.entry.event.author_id, []).append(arrival.packed)
    commands = [
        APPEND.on(_guarded(author_id), MOST_BYTES, LEAST_BYTES, b"".join(records))
        for author_id, records in by_author.items()
    ]
    redis().run(commands)


def drop_packs(author_ids: Collection[int]) -> None:
    """Deletes packs: the next reader loads them. Raises: RedisError. One round trip."""
    redis().run([("DEL", *_guarded(author_id)) for author_id in author_ids])


def _ask(author_ids: Sequence[int]) -> Question[dict[int, Pack]]:
    return ask_keys(keys(FAMILY, author_ids), partial(_decode, author_ids))


def _decode(author_ids: Sequence[int], replies: Replies) -> dict[int, Pack]:
    asked = zip(author_ids, replies or (), strict=False)
    packs = {author_id: decode(FAMILY, Pack.from_packed, raw) for author_id, raw in asked}
    return {author_id: pack for author_id, pack in packs.items() if pack is not None}


def _load(author_ids: Sequence[int], tokens: LoadTokens) -> Mapping[int, Pack]:
    calls = {
        alias: partial(read_packs, alias, authors)
        for alias, authors in group_by_shard(author_ids).items()
    }
    packs = {i: pack for part in scatter(calls).values() for i, pack in part.items()}
    write_loaded(FAMILY, _write_commands(packs, tokens))
    return packs


def _write_commands(packs: Mapping[int, Pack], tokens: LoadTokens) -> list[Command]:
    return [
        WRITE.on(_guarded(author_id), token, pack.packed, jittered_ms(TTL_S))
        for author_id, pack in packs.items()
        if (token := tokens.of(_key_of(author_id)))
    ]


def _key_of(author_id: int) -> bytes:
    return key(FAMILY, author_id)


def _guarded(author_id: int) -> tuple[bytes, bytes]:
    """The keys of a pack and of its load token: on one node of a cluster."""
    where = _key_of(author_id)
    return where, token_key(where)


_loads = SharedLoads(FAMILY, _key_of, _ask, _load)
