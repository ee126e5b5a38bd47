"""What accounts keeps in Redis: profiles as ready-made JSON, and what a token allows.

| key | value |
|---|---|
| `accounts.profile:v2:<site>:{account}` | `version:fresh until:fragment`; empty: nobody to show |
| `accounts.token:v2:{sha256 of the token}` | `revision:TokenFacts`; `0:` unknown, `ENDED:` ended |

A token's version only grows through its life: it is the revision of what its user is restricted
to, plus one. So a loader that read the rows before a change of that, or before the revocation,
cannot lay them again after; the tombstone (ENDED) stays for longer than any statement may take.
"""

from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

import msgspec
from django.conf import settings

from accounts.encode import encode_profile
from accounts.queries.profiles import load_profiles
from accounts.types import Profile, Restriction
from infra.caching.client import Command
from infra.caching.keys import key
from infra.caching.values import WRITE_VALUE, ValueCache, Versioned, jittered_ms

TOKENS = "accounts.token:v2"
# Also the longest that a Redis rewound to an old snapshot can bring an ended token back.
TOKEN_TTL_S = 600
# Above every revision, and still exact as a double.
UNKNOWN, ENDED = 0, 2**53


def _load_profiles(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    found = load_profiles(account_ids)
    rows = {id_: Versioned(row.version, _encode_shown(row)) for id_, row in found.items()}
    return dict.fromkeys(account_ids, Versioned(0, b"")) | rows


def _encode_shown(row: Profile) -> bytes:
    """Nothing of a suspended account: to all readers it is as if there were none."""
    return b"" if Restriction.SUSPENDED in row.restrictions else encode_profile(row)


# Fragments carry absolute links: a new PUBLIC_URL must not find those of the old one.
_SITE = f"{crc32(settings.PUBLIC_URL.encode()):08x}"
profiles = ValueCache(f"accounts.profile:v2:{_SITE}", ttl_s=86_400, load=_load_profiles)


def refresh_profiles(account_ids: Iterable[int]) -> None:
    """Brings cached profiles up to the rows. One query per shard, one round trip.

    Raises: RedisError, so that a consumer is run again.
    """
    profiles.refresh(_load_profiles(list(dict.fromkeys(account_ids))))


class TokenFacts(msgspec.Struct, frozen=True, array_like=True):
    """What an access token allows, as its row says. `expires_at`: Unix seconds.

    `revision`: of what its user is restricted to. `is_suspended`: so is its user.
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


_decoder = msgspec.json.Decoder(TokenFacts)


def token_key(checksum: str) -> bytes:
    return key(TOKENS, checksum)


def read_token_entry(entry: bytes) -> TokenFacts | None:
    """The facts of a cached entry; None for a token that is unknown or ended."""
    payload = entry.partition(b":")[2]
    return _decoder.decode(payload) if payload else None


def write_token_command(checksum: str, facts: TokenFacts | None) -> Command:
    """Lays what the database says, unless the token has ended or its user changed meanwhile."""
    version = UNKNOWN if facts is None else facts.revision + 1
    payload = b"" if facts is None else msgspec.json.encode(facts)
    return WRITE_VALUE.on([token_key(checksum)], version, payload, jittered_ms(TOKEN_TTL_S))


def end_token_command(checksum: str) -> Command:
    """Lays the tombstone of a token."""
    return WRITE_VALUE.on([token_key(checksum)], ENDED, b"", jittered_ms(TOKEN_TTL_S))
