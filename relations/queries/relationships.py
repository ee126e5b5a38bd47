"""Relationships of a viewer with other accounts, from Redis or the viewer's shard."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Self

from accounts.cache import profiles
from infra.caching.load_tokens import LoadTokens, write_loaded
from infra.caching.loading import SharedLoads
from infra.caching.questions import Question, answer, ask_both
from infra.caching.relationship_cache import RelationshipCacheReply
from infra.changes.failpoints import failpoint
from infra.evidence import note_end
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.cache import RELATIONSHIPS
from relations.lists.sql import IS_ON_EXCLUSIVE_LIST
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, KIND, MUTES_TABLE, NOTES_TABLE
from relations.types import UNRELATED, Relationship
from relations.visibility import is_clear_follow

READ = f"""
SELECT other.id, coalesce(mine.attribute, 0), coalesce(mine.flags, 0),
    coalesce(theirs.attribute, 0), coalesce(mute.is_on, false),
    coalesce(mute.hides_notifications, false), coalesce(mute.until_ms, 0),
    note.target_id IS NOT NULL, {IS_ON_EXCLUSIVE_LIST}, mine.languages
FROM unnest(%(others)s::bigint[]) AS other (id)
LEFT JOIN {FORWARD_TABLE} mine ON mine.follower_id = %(viewer)s
    AND mine.kind = {KIND} AND mine.followee_id = other.id
LEFT JOIN {BACKWARD_TABLE} theirs ON theirs.followee_id = %(viewer)s
    AND theirs.kind = {KIND} AND theirs.follower_id = other.id
LEFT JOIN {MUTES_TABLE} mute ON mute.owner_id = %(viewer)s
    AND mute.kind = {KIND} AND mute.target_id = other.id
LEFT JOIN {NOTES_TABLE} note ON note.owner_id = %(viewer)s AND note.target_id = other.id
"""  # noqa: S608
RELATED = f"""
SELECT followee_id FROM {FORWARD_TABLE}
WHERE follower_id = %(viewer)s AND kind = {KIND} AND attribute <> 0
UNION ALL
SELECT follower_id FROM {BACKWARD_TABLE}
WHERE followee_id = %(viewer)s AND kind = {KIND} AND attribute <> 0
UNION ALL
SELECT target_id FROM {MUTES_TABLE}
WHERE owner_id = %(viewer)s AND kind = {KIND} AND is_on
UNION ALL
SELECT target_id FROM {NOTES_TABLE} WHERE owner_id = %(viewer)s
LIMIT %(most)s
"""  # noqa: S608


Reading = RelationshipCacheReply[Relationship]


class Relationships(NamedTuple):
    """Relationships by account.

    `validator`: they hold for as long as Redis has this one; None: do not remember them.
    `clear_follows`: accounts of which the viewer sees all posts (`is_clear_follow`). Most entries
    of a home page are theirs, so the set is made once instead of at each entry. `reading`: what
    Redis replied, which tells of more accounts (`with_others`).
    """

    validator: bytes | None
    by_account: Mapping[int, Relationship]
    clear_follows: frozenset[int]
    reading: Reading | None = None

    @classmethod
    def build(
        cls,
        validator: bytes | None,
        by_account: Mapping[int, Relationship],
        reading: Reading | None = None,
    ) -> Self:
        clear = frozenset([i for i, known in by_account.items() if is_clear_follow(known)])
        return cls(validator, by_account, clear, reading)


NO_RELATIONSHIPS = Relationships.build(None, {})


def load_relationships(viewer_id: int, others: Iterable[int]) -> Mapping[int, Relationship]:
    """One per account, in the order given, each once; at most 1,000 accounts.

    An account is UNRELATED to itself. Cost: one round trip when warm. A miss costs one query by
    primary keys and two more trips, and one more query when the filter is missing, or all pairs
    of a viewer who has few. Without Redis: one query.
    """
    wanted = list(dict.fromkeys(others))
    by_account = answer(ask_relationships(viewer_id, wanted)).by_account
    return {other: by_account[other] for other in wanted}


def read_relationship(viewer_id: int, other: int) -> Relationship:
    """The relationship as the viewer's shard has it, for the answer to a write. One query.

    The write has just dropped what Redis knew, and the next reader brings it back.
    """
    relationship = _read(viewer_id, [other])[other]
    note_ends_of_mutes([relationship])
    return relationship


def load_existing_relationships(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    """Relationships with those of `others` that are accounts, in the order given.

    Each account is in `others` once. Cost: one round trip, and as `load_relationships`. Profiles
    that Redis lacks come from the shards.
    """
    if not others:
        return {}
    asked = ask_both(profiles.ask_uncopied(others), ask_relationships(viewer_id, others))
    existing, relationships = answer(asked)
    by_account = relationships.by_account
    return {other: by_account[other] for other in others if other in existing}


def ask_relationships(viewer_id: int, others: Sequence[int]) -> Question[Relationships]:
    """Relationships with at least these accounts, each once; at most 1,000.

    Accounts that Redis does not answer for come from the viewer's shard, and are written to Redis.
    Cost: as `load_relationships`; no command without accounts.
    """
    if not others:
        return Question((), lambda _: NO_RELATIONSHIPS)
    cached = RELATIONSHIPS.ask(viewer_id, others)
    return cached.then(partial(_complete, viewer_id, others))


def with_others(viewer_id: int, known: Relationships, others: Iterable[int]) -> Relationships:
    """The same, with these accounts too: those that the posts of a page name.

    Cost: nothing while Redis's reply tells of them. It does for unrelated ones, and for all that
    the viewer's pages asked for lately; the others cost as `ask_relationships`.
    """
    missing = [other for other in dict.fromkeys(others) if other not in known.by_account]
    if not missing:
        return known
    more: Mapping[int, Relationship] = {}
    if known.reading is not None:
        reading = RELATIONSHIPS.find_more(known.reading, missing)
        ruled_out = set(missing) - set(reading.unknown)
        more, missing = _related_by([*ruled_out], reading), reading.unknown
    if missing:
        more = {**more, **answer(ask_relationships(viewer_id, missing)).by_account}
    return known._replace(by_account={**known.by_account, **more})


def _complete(viewer_id: int, others: Sequence[int], reading: Reading | None) -> Relationships:
    if reading is None:
        return Relationships.build(None, _read(viewer_id, others))
    if reading.unknown:
        return _load_shared(viewer_id, others, reading)
    return _build(others, reading, {})


def _load_shared(viewer_id: int, others: Sequence[int], reading: Reading) -> Relationships:
    """What this thread or another one reads from the viewer's shard."""

    def check(cached: Reading | None) -> dict[int, Relationships]:
        nonlocal reading
        reading = cached or reading
        return {} if reading.unknown else {viewer_id: _build(others, reading, {})}

    def load(_: Sequence[int], tokens: LoadTokens) -> dict[int, Relationships]:
        return {viewer_id: _build(others, *_load_unknown(viewer_id, reading, tokens))}

    question = RELATIONSHIPS.ask(viewer_id, others, is_again=True).then(check)
    loads = SharedLoads(RELATIONSHIPS.family, RELATIONSHIPS.key, lambda _: question, load)
    return loads.load_missing([viewer_id])[viewer_id]


def _load_unknown(
    viewer_id: int, reading: Reading, tokens: LoadTokens
) -> tuple[Reading, dict[int, Relationship]]:
    """Reads those that Redis does not know, and writes them with a filter if there was none.

    Returns the reading with that filter, and what was read.
    """
    wanted, new_filter = _choose(viewer_id, reading)
    loaded = _read(viewer_id, wanted) if wanted else {}
    failpoint("relationships.read")
    packed = {other: relationship.packed for other, relationship in loaded.items()}
    write = RELATIONSHIPS.write_command(viewer_id, reading, packed, new_filter)
    release = tokens.release_commands([RELATIONSHIPS.key(viewer_id)])
    write_loaded(RELATIONSHIPS.family, [write, *release])
    return reading._replace(filter_data=new_filter or reading.filter_data), loaded


def _choose(viewer_id: int, reading: Reading) -> tuple[list[int], bytes | None]:
    """The accounts to read, and a new filter if Redis has none.

    Of a viewer with few related accounts these are all of them, if Redis has none. So the accounts
    that a later page shows cost no more queries.
    """
    unknown, data, new_filter, related = reading.unknown, reading.filter_data, None, list[int]()
    if data is None:
        related = _read_related(viewer_id)
        new_filter = RELATIONSHIPS.make_filter(related)
        unknown = RELATIONSHIPS.rule_out(new_filter, unknown)
    elif reading.is_empty and RELATIONSHIPS.may_be_whole(data):
        related = _read_related(viewer_id)
    every = [*dict.fromkeys([*unknown, *related])]
    is_whole = reading.is_empty and len(every) <= RELATIONSHIPS.most_whole
    return every if is_whole else unknown, new_filter


def _build(
    others: Sequence[int],
    reading: Reading,
    loaded: Mapping[int, Relationship],
) -> Relationships:
    by_account = {**_related_by(others, reading), **loaded}
    note_ends_of_mutes(loaded.values())
    return Relationships.build(reading.validator, by_account, reading)


def _related_by(others: Sequence[int], reading: Reading) -> dict[int, Relationship]:
    """UNRELATED: Redis has no answer."""
    cached = reading.cached
    note_ends_of_mutes(cached.values())
    if len(cached) == len(others):
        return cached
    return {other: cached.get(other, UNRELATED) for other in others}


def note_ends_of_mutes(relationships: Iterable[Relationship]) -> None:
    """No reply of Redis says that a mute has ended."""
    for relationship in relationships:
        if relationship.muted_until_ms:
            note_end(relationship.muted_until_ms)


def _read(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    """From the viewer's shard, in one snapshot."""
    params = {"viewer": viewer_id, "others": list(others)}
    rows = fetch_all(shard_of(viewer_id), READ, params)
    return {
        other: Relationship.of_rows(
            *facts, has_note=has_note, is_exclusive=is_exclusive, languages=languages
        )
        for other, *facts, has_note, is_exclusive, languages in rows
    }


def _read_related(viewer_id: int) -> list[int]:
    """All related accounts, some twice; one more than the filter holds when there are too many."""
    params = {"viewer": viewer_id, "most": RELATIONSHIPS.max_filtered + 1}
    return [row[0] for row in fetch_all(shard_of(viewer_id), RELATED, params)]
