"""The Status entity, spliced from cached parts without parsing any."""

import orjson

# What depends on others; fixed until reposts, replies and favourites exist.
_TAIL = (
    b'"replies_count":0,"reblogs_count":0,"favourites_count":0,'
    b'"favourited":false,"reblogged":false,"muted":false,"bookmarked":false}'
)


def present_status(fragment: bytes, account: bytes) -> bytes:
    """One Status entity, spliced from its parts."""
    return b'{%b,"account":%b,%b' % (fragment, account, _TAIL)


def with_source(status: bytes, text: str) -> bytes:
    """A Status with the text its author typed, as Mastodon returns a deleted one."""
    return b'%b,"text":%b}' % (status[:-1], orjson.dumps(text))
