"""Mastodon's entities; accounts are spliced from cached fragments and never parsed."""

from typing import Any

import orjson

from accounts.types import IssuedToken

NO_COUNTS = b"0,0,0,0,0"


def present_account(profile: bytes, counts: bytes | None, is_own: bool = False) -> bytes:
    """An Account. `profile`: payload of accounts.cache.profiles; `counts`: of account_counts.

    Only the account itself sees its quiet follows counted (`is_own`).
    """
    numbers = map(int, (counts or NO_COUNTS).split(b","))
    followers, following, posts, quiet_followers, quiet_following = numbers
    if not is_own:
        followers, following = followers - quiet_followers, following - quiet_following
    return (
        b'{%b,"followers_count":%d,"following_count":%d,"statuses_count":%d}'
        % (profile, followers, following, posts)
    )  # fmt: skip


def present_credentials(account: bytes, note: str) -> bytes:
    """A CredentialAccount: the account with the fields for its owner. `note`: as it was typed."""
    source = {
        "privacy": "public",
        "sensitive": False,
        "language": None,
        "note": note,
        "fields": [],
        "follow_requests_count": 0,
    }
    return b'%b,"source":%b}' % (account[:-1], orjson.dumps(source))


def present_token(token: IssuedToken) -> dict[str, Any]:
    """Mastodon's Token entity."""
    return {
        "access_token": token.token,
        "token_type": "Bearer",
        "scope": token.scope,
        "created_at": int(token.created_at.timestamp()),
    }
