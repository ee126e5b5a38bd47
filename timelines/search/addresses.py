"""What a text names exactly: an account of this site by its address, or a post by its URL."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from posts.ids import MalformedPostId, PostId

_USERNAME = re.compile(r"[A-Za-z0-9_]+")
_ACCOUNT_PAGE = re.compile(r"/(?:@|users/)([A-Za-z0-9_]+)/?")
# As Tideline writes the URLs of posts, and as Mastodon does.
_POST_PAGE = re.compile(
    r"(?:/@[A-Za-z0-9_]+|/users/[A-Za-z0-9_]+/statuses|/statuses)/([0-9a-z]+)/?"
)


class Address(NamedTuple):
    """`username`: the account to find by exactly this name. `post_id`: the post that a URL names.

    `is_all`: the text names these and is no text to search for.
    """

    username: str | None = None
    post_id: PostId | None = None
    is_all: bool = False


NOTHING = Address(is_all=True)


def parse_account_address(text: str) -> Address:
    """The address in a text. A URL or an address of another site names nothing.

    Shape: `@ann` and `ann` name an account, and are a text to search for; `@ann@here`,
    `https://here/@ann` and `https://here/statuses/1` are exact.
    """
    if text.startswith(("https://", "http://")):
        return _read_url(text)
    name, at, host = text.removeprefix("@").partition("@")
    if not _USERNAME.fullmatch(name):
        return Address()
    if at and not _is_here(host):
        return NOTHING if _looks_like_host(host) else Address()
    return Address(username=name, is_all=bool(at))


def _read_url(text: str) -> Address:
    try:
        url = urlsplit(text)
    except ValueError:
        return NOTHING
    if not _is_here(url.netloc):
        return NOTHING
    if account := _ACCOUNT_PAGE.fullmatch(url.path):
        return Address(username=account[1], is_all=True)
    post = _POST_PAGE.fullmatch(url.path)
    return NOTHING if post is None else _read_post_id(post[1])


def _read_post_id(text: str) -> Address:
    try:
        return Address(post_id=PostId.from_public(text), is_all=True)
    except MalformedPostId:
        return NOTHING


def _is_here(host: str) -> bool:
    return host.lower() == urlsplit(settings.PUBLIC_URL).netloc.lower()


def _looks_like_host(host: str) -> bool:
    return bool(host) and not any(sign.isspace() for sign in host)
