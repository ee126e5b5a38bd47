"""Mastodon's MutedAccount and FamiliarFollowers."""

from collections.abc import Iterable
from datetime import UTC, datetime


def present_muted(account: bytes, until_ms: int) -> bytes:
    """An account with when its mute runs out; `until_ms` 0: never."""
    if not until_ms:
        return b'%b,"mute_expires_at":null}' % account[:-1]
    moment = datetime.fromtimestamp(until_ms / 1000, UTC)
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{until_ms % 1000:03d}Z"
    return b'%b,"mute_expires_at":"%b"}' % (account[:-1], text.encode())


def present_familiar(target_id: int, accounts: Iterable[bytes]) -> bytes:
    return b'{"id":"%d","accounts":[%b]}' % (target_id, b",".join(accounts))
