"""Searches the accounts of one shard by their names."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from accounts.types import Restriction
from counters.kinds import CounterKind
from counters.sql import select_counts
from infra.caching.costly_searches import search_once

# Of accounts that the searcher does not follow. So a word that very many names have costs no more.
MOST_MATCHES = 400
_UNSEEN = Restriction.SUSPENDED
_UNSUGGESTED = Restriction.SUSPENDED | Restriction.LIMITED
_MATCHES = "accounts_names(username, display_name) @@ {query}(%(text)s)"
# Quiet followers are secret, so they do not change the order.
_FOLLOWERS = select_counts(
    "found.id", "0", f"kind IN ({CounterKind.FOLLOWERS:d}, {CounterKind.QUIET_FOLLOWERS:d})"
)
SEARCH = f"""
WITH found AS (
    (SELECT id FROM accounts_account
    WHERE %(others)s AND {_MATCHES} AND restrictions & {_UNSUGGESTED:d} = 0 LIMIT %(most)s)
    UNION
    SELECT id FROM accounts_account
    WHERE id = ANY(%(first)s::bigint[]) AND {_MATCHES} AND restrictions & {_UNSEEN:d} = 0
)
SELECT id, {{words}}, coalesce((
    SELECT sum(CASE kind WHEN {CounterKind.FOLLOWERS:d} THEN value ELSE -value END)::bigint
    FROM ({_FOLLOWERS}) AS counted), 0) AS followers
FROM found ORDER BY id = ANY(%(first)s::bigint[]) DESC, followers DESC, id LIMIT %(limit)s
"""  # noqa: S608
_WORDS = """(
    SELECT accounts_words(username || ' ' || display_name) FROM accounts_account AS named
    WHERE named.id = found.id)"""


class NameMatch(Enum):
    """How names must match: their words begin with those of the text, or are similar to them."""

    BEGINNINGS = SEARCH.format(query="accounts_beginnings", words="'{}'::text[]")
    SIMILAR = SEARCH.format(query="accounts_similar", words=_WORDS)


class FoundAccount(NamedTuple):
    """An account whose names match. `words`: of names that are similar, without capitals and
    accents."""

    account_id: int
    words: Sequence[str]
    followers: int


class NameSearch(NamedTuple):
    """A search of one shard. `first`: accounts of the shard to prefer, all of which are searched.

    `others`: whether further accounts are searched.
    """

    text: str
    limit: int
    first: Sequence[int] = ()
    others: bool = True


def search_names(alias: str, search: NameSearch, match: NameMatch) -> list[FoundAccount]:
    """Accounts of one shard whose names match: the preferred ones first, then by open followers.

    Suspended accounts are left out, and limited ones that are not preferred. If very many match,
    MOST_MATCHES of them compete. Cost: one query by the index account_names, which reads each match
    and its counts once. Raises: SearchTooCostly.
    """
    params = {
        "text": search.text,
        "first": list(search.first),
        "others": search.others,
        "most": MOST_MATCHES,
        "limit": search.limit,
    }
    asked = (match.name, search.text, search.others)
    return [FoundAccount(*row) for row in search_once(alias, match.value, params, asked)]
