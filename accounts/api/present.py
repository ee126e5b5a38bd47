"""Mastodon's entities; accounts are spliced from cached fragments and never parsed."""

from datetime import date
from functools import lru_cache
from typing import Any

import orjson

from accounts.types import IssuedToken, Preferences, ProfileSource

# The role of every account in the API. Moderators work in the admin: a token gives no rights there.
EVERYBODY = orjson.dumps(
    {"id": "-99", "name": "", "color": "", "permissions": "0", "highlighted": False}
)
_DAY_0 = date(1970, 1, 1).toordinal()
# Mastodon's clients read them from the source of their own account.
_ALSO_IN_SOURCE = ("hide_collections", "discoverable", "indexable")
NO_COUNTS = b"0,0,0,0,0,0"


def present_account(profile: bytes, counts: bytes | None, is_own: bool = False) -> bytes:
    """An Account. `profile`: payload of accounts.cache.profiles; `counts`: of account_counts.

    Only the account itself sees its quiet follows counted (`is_own`).
    """
    texts = (counts or NO_COUNTS).split(b",")
    followers, following, posts, quiet_followers, quiet_following, day = texts
    if not (is_own or quiet_followers == quiet_following == b"0"):
        followers = b"%d" % (int(followers) - int(quiet_followers))
        following = b"%d" % (int(following) - int(quiet_following))
    return (
        b'{%b,"followers_count":%b,"following_count":%b,"statuses_count":%b,"last_status_at":%b}'
        % (profile, followers, following, posts, _date_of(day))
    )  # fmt: skip


@lru_cache(maxsize=4_096)
def _date_of(days: bytes) -> bytes:
    """Days since 1970 as JSON. Few differ: accounts that are read together have posted lately."""
    day = int(days)
    return orjson.dumps(date.fromordinal(_DAY_0 + day) if day else None)


def present_credentials(account: bytes, source: ProfileSource) -> bytes:
    """A CredentialAccount: the account with what only its owner sees."""
    preferences = source.preferences
    texts = {
        "privacy": preferences.privacy,
        "sensitive": preferences.sensitive,
        "language": preferences.language or None,
        "quote_policy": preferences.quote_policy,
        "home_replies": preferences.home_replies,
        "note": source.note,
        "fields": [
            {"name": field.name, "value": field.value, "verified_at": None}
            for field in source.fields
        ],
        "follow_requests_count": source.follow_requests,
        "attribution_domains": [],
    }
    profile = orjson.loads(account)
    texts |= {name: profile[name] for name in _ALSO_IN_SOURCE}
    return b'%b,"source":%b,"role":%b}' % (account[:-1], orjson.dumps(texts), EVERYBODY)


def present_preferences(preferences: Preferences) -> bytes:
    """Mastodon's Preferences, and a choice of ours. How a client shows posts is left to it."""
    fields = {
        "posting:default:visibility": preferences.privacy,
        "posting:default:sensitive": preferences.sensitive,
        "posting:default:language": preferences.language or None,
        "posting:default:quote_policy": preferences.quote_policy,
        "reading:expand:media": "default",
        "reading:expand:spoilers": False,
        "reading:autoplay:gifs": False,
        "reading:home:replies": preferences.home_replies,
    }
    return orjson.dumps(fields)


def present_token(token: IssuedToken) -> dict[str, Any]:
    """Mastodon's Token entity."""
    return {
        "access_token": token.token,
        "token_type": "Bearer",
        "scope": token.scope,
        "created_at": int(token.created_at.timestamp()),
    }
