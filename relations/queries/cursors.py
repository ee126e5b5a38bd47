"""Cursors of all lists of relations: a place in the list, whether or not anybody is there."""

from infra.api import base36
from infra.api.errors import InvalidCursor
from relations.types import ListedAccount


def encode_cursor(listed: ListedAccount) -> str:
    """15 base36 digits: 9 of the time, 6 of the account."""
    return base36.encode(listed.since_ms, 9) + base36.encode(listed.account_id, 6)


def decode_cursor(text: str | None) -> ListedAccount | None:
    """Raises InvalidCursor for anything `encode_cursor` did not make."""
    if text is None:
        return None
    try:
        if len(text) != 15:
            raise ValueError
        return ListedAccount(base36.decode(text[:9]), base36.decode(text[9:]))
    except ValueError:
        raise InvalidCursor from None
