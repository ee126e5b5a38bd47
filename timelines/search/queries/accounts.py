"""Searches accounts on all shards, and ranks them for the viewer."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from accounts.queries.search import (
    MOST_MATCHES,
    NameMatch,
    NameSearch,
    search_names,
)
from accounts.queries.users import find_account_id
from infra.sharding.buckets import group_by_shard, is_owned
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import scatter_available
from infra.sharding.shards import shard_aliases
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED, Relationship
from relations.visibility import Surface, may_show
from timelines.search.addresses import parse_account_address
from timelines.search.resemblance import resemble
from timelines.search.types import AccountSearch

# Relationships are asked of fewer than a thousand accounts at once.
MOST_RANKED = 800


class Candidate(NamedTuple):
    """An account that matches. `is_exact`: its username is the text."""

    account_id: int
    followers: int = 0
    is_exact: bool = False


def search_accounts(search: AccountSearch) -> list[int]:
    """The accounts that match best: the exact name first, then mutuals, then followees, and then
    those with the most followers.

    Blocked accounts, in either direction, are not among them, but for the exact name of one that
    the viewer blocks. Shards that do not answer are left
    out. Raises: OperationalError, InterfaceError if no shard answers. Cost: the following list, one
    query on each shard and one on the default database; once more on the shards if no name matches;
    relationships of the candidates.
    """
    address = parse_account_address(search.text)
    mine = _load_followees(search.viewer_id)
    candidates = _find_exact(address.username) if address.is_all else _find(search, mine)
    if search.is_following:
        candidates = [candidate for candidate in candidates if candidate.account_id in mine]
    ranked = _rank(search.viewer_id, candidates)
    return ranked[search.offset : search.offset + search.limit]


def _load_followees(viewer_id: int | None) -> frozenset[int]:
    if viewer_id is None:
        return frozenset()
    return frozenset(load_following(viewer_id).followee_ids)


def _find_exact(username: str | None) -> list[Candidate]:
    account_id = None if username is None else find_account_id(username)
    return [] if account_id is None else [Candidate(account_id, is_exact=True)]


def _find(search: AccountSearch, mine: Collection[int]) -> list[Candidate]:
    """Candidates by their names, each once."""
    candidates = _ask(
        search, mine, NameMatch.BEGINNINGS, parse_account_address(search.text).username
    )
    if not candidates:
        candidates = _ask(search, mine, NameMatch.SIMILAR)
    best_last = {candidate.account_id: candidate for candidate in reversed(candidates)}
    return list(best_last.values())


def _ask(
    search: AccountSearch, mine: Collection[int], match: NameMatch, username: str | None = None
) -> list[Candidate]:
    """Matches of all shards that answer, after the account with exactly this name."""
    first = group_by_shard(mine)
    limit = min(search.offset + search.limit, MOST_MATCHES)
    names = NameSearch(search.text, limit, others=not search.is_following)
    calls = {
        alias: partial(_ask_shard, alias, names._replace(first=first.get(alias, ())), match)
        for alias in shard_aliases()
    }
    if username is not None:
        calls = {GLOBAL_ALIAS: partial(_find_exact, username), **calls}
    return [
        candidate for candidates in scatter_available(calls).values() for candidate in candidates
    ]


def _ask_shard(alias: str, names: NameSearch, match: NameMatch) -> list[Candidate]:
    hits = [hit for hit in search_names(alias, names, match) if is_owned(alias, hit.account_id)]
    if match is NameMatch.SIMILAR:
        hits = [hit for hit in hits if resemble(names.text, hit.words)]
    return [Candidate(hit.account_id, hit.followers) for hit in hits]


def _rank(viewer_id: int | None, candidates: Sequence[Candidate]) -> list[int]:
    """The accounts that the viewer may find, best first."""
    likely = sorted(
        candidates, key=lambda candidate: (not candidate.is_exact, -candidate.followers)
    )
    likely = likely[:MOST_RANKED]
    known: Mapping[int, Relationship] = {}
    if viewer_id is not None and likely:
        known = load_relationships(viewer_id, [candidate.account_id for candidate in likely])
    allowed = [
        (candidate, relationship)
        for candidate in likely
        if _may_find(candidate, relationship := known.get(candidate.account_id, UNRELATED))
    ]
    return [candidate.account_id for candidate, _ in sorted(allowed, key=_order)]


def _may_find(candidate: Candidate, relationship: Relationship) -> bool:
    """An account that I block is found by its exact name only, so that I can end the block."""
    surface = Surface.NAMED if candidate.is_exact else Surface.SEARCHED
    return may_show(surface, relationship, now_ms=0)


def _order(entry: tuple[Candidate, Relationship]) -> tuple[bool, bool, bool, int, int]:
    candidate, relationship = entry
    is_mutual = relationship.is_followed and relationship.follows_me
    is_followed = relationship.is_followed
    return (
        not candidate.is_exact,
        not is_mutual,
        not is_followed,
        -candidate.followers,
        candidate.account_id,
    )
