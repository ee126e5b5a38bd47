"""Reads what tokens allow: from Redis, then from the default database.

Access tokens by their ids, for rows that belong to a token.

The names of API clients, which posts show. In process memory for a minute.

The access tokens of a user, as a list of browsers and applications.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

import structlog
from cachebox import TTLCache
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

from accounts.cache import (
    TOKENS,
    TokenEntry,
    TokenFacts,
    ask_token,
    token_key,
    write_token,
)
from accounts.models import AccessToken
from accounts.types import Restriction
from infra.api.ids import MOST_DIGITS
from infra.api.pages import Page
from infra.caching.load_tokens import LoadTokens
from infra.caching.loading import SharedLoads
from infra.caching.questions import answer
from infra.caching.single_flight import SingleFlight
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.changes.own_acts import bring_back_own_acts
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one

log = structlog.get_logger()

# The tokens of a suspended user are found, so that clients get the reason. They look expired, so
# that a process of an older release, which does not read `is_suspended`, refuses them too.
FACTS = f"""
SELECT t.token_checksum, t.id, t.user_id, coalesce(t.application_id, 0), t.scope,
    CASE WHEN u.is_active IS false THEN 0 ELSE extract(epoch FROM t.expires) END::float8, a.quota,
    coalesce(u.restrictions & {Restriction.FROZEN:d} <> 0, false),
    coalesce(u.restriction_revision, 0), u.is_active IS false, 0,
    coalesce(a.is_bulk, false)
FROM accounts_accesstoken t
LEFT JOIN accounts_user u ON u.id = t.user_id
LEFT JOIN accounts_application a ON a.id = t.application_id
"""  # noqa: S608
FIND = f"{FACTS} WHERE t.token_checksum = %s"
SEVERAL = f"{FACTS} WHERE t.token_checksum = ANY(%s::text[])"
OF_USERS = f"{FACTS} WHERE t.user_id = ANY(%s::bigint[])"
# Tokens that are read by one query.
AT_ONCE = 1_000


def find_token(checksum: str, admit: Callable[[], None]) -> TokenFacts | None:
    """What the token allows. The caller checks whether it has expired.

    `admit` is called before the query, and may refuse it by an error.

    Cost: one round trip if cached; else one query and two more trips. Without Redis one query.
    Staleness: none after the tombstone of a revocation, which is written right after its commit.
    While the default database is away, facts that no tombstone ends are up to a day old.
    """
    asked = ask_token(checksum)
    entry = answer(asked)
    if asked.replies is None:
        admit()
        return _load(checksum)
    if entry is None:
        return _load_shared(checksum, admit)
    return _reload(checksum, entry.facts) if entry.is_stale else entry.facts


def _reload(checksum: str, known: TokenFacts | None) -> TokenFacts | None:
    """What the token allows now, or what it allowed if the database is away."""
    try:
        return _load_shared(checksum)
    except (OperationalError, InterfaceError) as error:
        log.warning("token.not_revalidated", error=str(error))
        return known


def _load_shared(checksum: str, admit: Callable[[], None] = lambda: None) -> TokenFacts | None:
    """What this thread or another one reads from the default database."""

    def load(_: Sequence[str], tokens: LoadTokens) -> dict[str, TokenFacts | None]:
        admit()
        return {checksum: _load_and_write(checksum, tokens)}

    question = ask_token(checksum).then(partial(_fresh_facts, checksum))
    return SharedLoads(TOKENS, token_key, lambda _: question, load).load_missing([checksum])[
        checksum
    ]


def _fresh_facts(checksum: str, entry: TokenEntry | None) -> dict[str, TokenFacts | None]:
    return {} if entry is None or entry.is_stale else {checksum: entry.facts}


def _load_and_write(checksum: str, tokens: LoadTokens) -> TokenFacts | None:
    facts = _load(checksum)
    failpoint("accounts.token_loaded")
    if facts is not None and facts.account_id is not None:
        # What has lost the token may have lost these. Before the token is there again.
        with suppress(*UNREACHABLE):
            bring_back_own_acts(facts.account_id)
    if not tokens.by_entry:
        return facts
    try:
        is_written = write_token(checksum, facts, tokens)
    except RedisError:
        return facts
    # Not written: the token may have ended while this thread was reading.
    return facts if is_written else _load(checksum)


def _load(checksum: str) -> TokenFacts | None:
    row = fetch_one(GLOBAL_ALIAS, FIND, (checksum,))
    return TokenFacts(*row[1:]) if row else None


def load_tokens(checksums: Sequence[str]) -> dict[str, TokenFacts]:
    """Those of the tokens that exist, by checksum, from the rows. A query for AT_ONCE of them."""
    pieces = [
        list(checksums[start : start + AT_ONCE]) for start in range(0, len(checksums), AT_ONCE)
    ]
    rows = [row for piece in pieces for row in fetch_all(GLOBAL_ALIAS, SEVERAL, (piece,))]
    return {row[0]: TokenFacts(*row[1:]) for row in rows}


def load_tokens_by_user(user_ids: Sequence[int]) -> dict[str, TokenFacts]:
    """The tokens of these users, by checksum. One query."""
    rows = fetch_all(GLOBAL_ALIAS, OF_USERS, (list(user_ids),))
    return {row[0]: TokenFacts(*row[1:]) for row in rows}


LIVE = """
SELECT t.id FROM accounts_accesstoken AS t JOIN accounts_user AS u ON u.id = t.user_id
WHERE t.id = ANY(%s::bigint[]) AND t.expires > now() AND u.is_active
"""


def find_live_token_ids(ids: Collection[int]) -> set[int]:
    """Those of the tokens that were not ended and whose user may sign in.

    One query by key on the default database.
    """
    if not ids:
        return set()
    return {row[0] for row in fetch_all(GLOBAL_ALIAS, LIVE, (list(ids),))}


KEPT_S = 60
MOST_CLIENTS = 10_000
ONE = "SELECT name, website FROM accounts_application WHERE id = %s"
ClientName = Mapping[str, str | None]
_names: TTLCache[int, ClientName] = TTLCache(MOST_CLIENTS, KEPT_S)
_loads: SingleFlight[int, ClientName] = SingleFlight()


def find_client_name(application_id: int) -> ClientName | None:
    """The `application` of a Status. None: it is not known, or its database does not answer.

    Cost: one query by key, once in KEPT_S, for all threads together.
    """
    name = _names.get(application_id)
    if name is not None:
        return name
    try:
        return _loads.load([application_id], _load_names).get(application_id)
    except (OperationalError, InterfaceError):
        return None


def _load_names(application_ids: Sequence[int]) -> dict[int, ClientName]:
    rows = {i: fetch_one(GLOBAL_ALIAS, ONE, (i,)) for i in application_ids}
    names: dict[int, ClientName] = {
        i: {"name": row[0], "website": row[1] or None} for i, row in rows.items() if row is not None
    }
    _names.update(names)
    return names


MOST = 50


def list_sessions(user_id: int, max_id: str = "") -> Page[AccessToken]:
    """Tokens with their applications, newest first. `max_id`: those before this one. One query."""
    rows = AccessToken.objects.filter(user_id=user_id).select_related("application")
    if max_id.isascii() and max_id.isdigit() and len(max_id) <= MOST_DIGITS:
        rows = rows.filter(pk__lt=int(max_id))
    tokens = list(rows.order_by("-pk")[: MOST + 1])
    older = str(tokens[MOST - 1].pk) if len(tokens) > MOST else None
    return Page(tokens[:MOST], older, None)
