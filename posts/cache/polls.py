"""The caches of polls: what each option has, and how a viewer voted. Both in Redis, then the shard.

posts.poll:v3:{author}:moment              version:…:{"options":[["foo",3],…],"edition":0,…}
posts.poll_votes:v3:{author}:moment:voter  version:…:{"edition":0,"choices":[0,2]}

A vote is negative for an account that has not voted. Votes are only added, so the number of votes
is the version, above the number of edits. An edit that resets the votes begins a new edition of
the poll. Votes of an older one, which may be cached for long, are ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from infra.api.ids import MAX_ACCOUNT_ID
from infra.caching.keys import key
from infra.caching.questions import Question
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.cache.by_post import MOMENTS, PostValues, number_of
from posts.ids import PostId

ACCOUNTS = MAX_ACCOUNT_ID + 1
# Also of hidden posts: a post may be shown again, and an entry without a poll would outlive that.
POLLS = """
SELECT author_id, moment, poll, votes, coalesce(voters, 0)
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment) LEFT JOIN posts_polltally USING (author_id, moment)
WHERE poll IS NOT NULL AND deleted_at IS NULL
"""
VOTES = """
SELECT author_id, moment, voter_id, choices, edition
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS wanted (author_id, moment, voter_id)
JOIN posts_pollvote USING (author_id, moment, voter_id)
"""
NOT_VOTED = Versioned(0, b"")
# More than a poll has votes.
_VERSIONS_OF_EDIT = 1 << 40


class _PollVotes(ValueCache):
    """By `vote_number`."""

    def key(self, owner: int) -> bytes:
        number, voter_id = divmod(owner, ACCOUNTS)
        author_id, moment = divmod(number, MOMENTS)
        return key(self.family, author_id, f"{moment}:{voter_id}")

    def keys(self, owners: Sequence[int]) -> list[bytes]:
        return [self.key(owner) for owner in owners]


def vote_number(post_id: PostId, voter_id: int) -> int:
    """A poll and a voter as one number, the key type of a ValueCache."""
    return number_of(post_id) * ACCOUNTS + voter_id


def _load_polls(numbers: Sequence[int]) -> Mapping[int, Versioned]:
    rows = _read(POLLS, [divmod(number, MOMENTS) for number in numbers])
    polls = {number_of(PostId.at(*row[:2])): _encode(*row[2:]) for row in rows}
    return {number: polls.get(number, NOT_VOTED) for number in numbers}


def _load_votes(numbers: Sequence[int]) -> Mapping[int, Versioned]:
    pairs = [divmod(number, ACCOUNTS) for number in numbers]
    rows = _read(VOTES, [(*divmod(number, MOMENTS), voter_id) for number, voter_id in pairs])
    votes = {
        vote_number(PostId.at(author_id, moment), voter_id): Versioned(
            edition * _VERSIONS_OF_EDIT + len(choices),
            orjson.dumps({"edition": edition, "choices": choices}),
        )
        for author_id, moment, voter_id, choices, edition in rows
    }
    return {number: votes.get(number, NOT_VOTED) for number in numbers}


def _read(sql: str, wanted: Iterable[tuple[int, ...]]) -> list[tuple[Any, ...]]:
    """Rows by keys that start with the author. One query per shard."""
    by_author: dict[int, list[tuple[int, ...]]] = {}
    for pair in wanted:
        by_author.setdefault(pair[0], []).append(pair)
    calls = {}
    for alias, authors in group_by_shard(by_author).items():
        keys = [pair for author in authors for pair in by_author[author]]
        columns = [list(column) for column in zip(*keys, strict=True)]
        calls[alias] = partial(fetch_all, alias, sql, columns)
    return [row for rows in scatter(calls).values() for row in rows]


def _encode(poll: str, votes: Sequence[int] | None, voters: int) -> Versioned:
    asked = orjson.loads(poll)  # raw statements return JSON columns as text
    counts = votes or [0] * len(asked["options"])
    options = list(zip(asked.pop("options"), counts, strict=True))
    version = asked.pop("edits", 0) * _VERSIONS_OF_EDIT + sum(counts)
    return Versioned(version, orjson.dumps(asked | {"options": options, "voters": voters}))


polls = PostValues("posts.poll:v3", ttl_s=86_400, load=_load_polls)
poll_votes = _PollVotes("posts.poll_votes:v3", ttl_s=86_400, load=_load_votes)


def ask_polls(ids: Iterable[PostId]) -> Question[dict[int, bytes]]:
    """Polls as JSON, by `number_of`; posts without one are missing."""
    return polls.ask_uncopied([number_of(post_id) for post_id in ids])


def ask_votes(ids: Iterable[PostId], voter_id: int) -> Question[dict[int, bytes]]:
    """The account's choices as JSON, by `vote_number`; polls without a vote are missing."""
    return poll_votes.ask_uncopied([vote_number(post_id, voter_id) for post_id in ids])


def refresh_polls(votes: Iterable[tuple[PostId, int]]) -> None:
    """Writes the polls and these voters' votes to Redis as they are now. Two queries a shard."""
    numbers = dict.fromkeys(vote_number(*vote) for vote in votes)
    poll_numbers = dict.fromkeys(number // ACCOUNTS for number in numbers)
    polls.refresh(_load_polls(list(poll_numbers)))
    poll_votes.refresh(_load_votes(list(numbers)))


def refresh_edited_polls(ids: Iterable[PostId]) -> None:
    """Writes these polls to Redis as they are now. One query a shard."""
    polls.refresh(_load_polls([number_of(post_id) for post_id in ids]))
