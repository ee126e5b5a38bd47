"""The Redis caches of accounts: profiles as ready-made JSON, and what each token allows.

| key | value |
|---|---|
| `accounts.profile:v4:<site>:{account}` | `version:fresh until:fragment`; no fragment: not shown |
| `accounts.token:v2:{sha256 of the token}` | `revision:TokenFacts`; `0:` unknown, `ENDED:` ended |
| `accounts.actor:v1:{account}` | `revision:fresh until:ActorFacts`; no facts: no such user |

Loaders write under load tokens. A restriction of the user drops the entries of the user's tokens. A
revocation writes the tombstone (ENDED), so that a client that goes on costs no queries.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from zlib import crc32

import msgspec
from django.conf import settings

from accounts.encode import encode_profile, is_fragment
from accounts.queries.profiles import ActorFacts, load_actors, load_profiles
from accounts.types import Profile, Restriction
from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.keys import jittered_ms, key
from infra.caching.load_tokens import LoadTokens
from infra.caching.load_tokens import token_key as load_token_key
from infra.caching.questions import Question, Replies, answer
from infra.caching.values import WRITE, ValueCache, Versioned

TOKENS = "accounts.token:v2"
TOKEN_TTL_S = 600
# What a known token allows is kept for longer, for the time in which the default database is away.
# It is read again when it is older than TOKEN_TTL_S.
KEPT_TOKEN_S = 86_400
# Above every revision, and still exact as a double.
UNKNOWN, ENDED = 0, 2**53


def _load_profiles(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    profiles_by_id = load_profiles(account_ids)
    rows = {id_: Versioned(row.version, _encode_shown(row)) for id_, row in profiles_by_id.items()}
    return dict.fromkeys(account_ids, Versioned(0, b"")) | rows


def _encode_shown(row: Profile) -> bytes:
    """Empty for a suspended account: readers see it as one that does not exist."""
    return b"" if Restriction.SUSPENDED in row.restrictions else encode_profile(row)


# Fragments have absolute links, so each PUBLIC_URL and MEDIA_URL has keys of its own.
_SITE = f"{crc32(f'{settings.PUBLIC_URL} {settings.MEDIA_URL}'.encode()):08x}"
profiles = ValueCache(
    f"accounts.profile:v4:{_SITE}", ttl_s=86_400, load=_load_profiles, check=is_fragment
)


def refresh_profiles(account_ids: Iterable[int]) -> None:
    """Writes the rows to the cached profiles. One query per shard, one round trip.

    Raises: RedisError, so that a consumer runs again.
    """
    profiles.refresh(_load_profiles(list(dict.fromkeys(account_ids))))


class TokenFacts(msgspec.Struct, frozen=True, array_like=True):
    """What an access token allows, by its row. `expires_at`: Unix seconds.

    `revision`: of its user's restrictions. `is_frozen`, `is_suspended`: its user is. `is_bulk`:
    its application is. `unused`: processes of the release before read a number in this place.
    """

    token_id: int
    account_id: int | None
    application_id: int
    scope: str
    expires_at: float
    application_quota: int | None = None
    is_frozen: bool = False
    revision: int = 0
    is_suspended: bool = False
    unused: int = 0
    is_bulk: bool = False


_decoder = msgspec.json.Decoder(TokenFacts)


def token_key(checksum: str) -> bytes:
    return key(TOKENS, checksum)


class TokenEntry(NamedTuple):
    """A cached answer. `facts` None: the token is unknown or ended.

    `is_stale`: a known token that must be read again.
    """

    facts: TokenFacts | None
    is_stale: bool


def ask_token(checksum: str) -> Question[TokenEntry | None]:
    """None: there is no entry, or it is undecodable."""
    where = token_key(checksum)
    return Question([("GET", where), ("PTTL", where)], _decode_entry)


def _decode_entry(replies: Replies) -> TokenEntry | None:
    raw, left_ms = replies or (None, 0)
    return decode(TOKENS, partial(read_token_entry, left_ms), raw)


def read_token_entry(left_ms: int, raw: bytes) -> TokenEntry:
    """`left_ms`: until Redis drops it. Raises: ValueError, DecodeError for another shape."""
    version, payload = raw.split(b":", 1)
    int(version)
    if not payload:
        return TokenEntry(None, is_stale=False)
    return TokenEntry(_decoder.decode(payload), left_ms < KEPT_TOKEN_S * 1000)


def write_token(checksum: str, facts: TokenFacts | None, tokens: LoadTokens) -> bool:
    """Caches what a load read. False: the token may have changed since the load began.

    Raises: RedisError. One round trip.
    """
    version, payload = _parts_of(facts)
    where = token_key(checksum)
    ttl_ms = jittered_ms(TOKEN_TTL_S) + (0 if facts is None else KEPT_TOKEN_S * 1000)
    head = (tokens.of(where), version, payload, ttl_ms)
    return bool(redis().call(*WRITE.on([where, load_token_key(where)], *head)))


def entry_of_token(facts: TokenFacts) -> bytes:
    """As `write_token` stores it."""
    return b"%d:%b" % _parts_of(facts)


def _parts_of(facts: TokenFacts | None) -> tuple[int, bytes]:
    """Version and payload."""
    return (UNKNOWN, b"") if facts is None else (facts.revision + 1, msgspec.json.encode(facts))


def drop_token_command(checksum: str) -> Command:
    """Deletes the cached token, and keeps loads in progress from writing it."""
    where = token_key(checksum)
    return ("DEL", where, load_token_key(where))


def end_token_commands(checksum: str) -> list[Command]:
    """Replace the cached token by a tombstone."""
    tombstone = ("SET", token_key(checksum), b"%d:" % ENDED, "PX", jittered_ms(TOKEN_TTL_S))
    return [drop_token_command(checksum), tombstone]


def _load_actors(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    rows = {
        account_id: Versioned(facts.revision + 1, msgspec.json.encode(facts))
        for account_id, facts in load_actors(account_ids).items()
    }
    return dict.fromkeys(account_ids, Versioned(0, b"")) | rows


_actors_decoder = msgspec.json.Decoder(ActorFacts)
actors = ValueCache("accounts.actor:v1", TOKEN_TTL_S, _load_actors, _actors_decoder.decode)


def find_actor(account_id: int) -> ActorFacts | None:
    """What decides whether services may act for this account. None: there is no such user.

    Cost: one round trip; a query of the default database and another trip if Redis lacks it.
    Staleness: none after a restriction and after a change of rights in the admin.
    """
    payload = answer(actors.ask_uncopied([account_id])).get(account_id)
    return None if payload is None else _actors_decoder.decode(payload)


def refresh_actors(account_ids: Iterable[int]) -> None:
    """Writes the users' rows to the cached facts. One query, one round trip. Raises: RedisError."""
    actors.refresh(_load_actors(list(dict.fromkeys(account_ids))))


def drop_actor(account_id: int) -> None:
    """For a change without a new revision: of rights. One round trip. Raises: RedisError."""
    redis().run(actors.drop_commands([account_id]))
