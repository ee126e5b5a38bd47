"""Finds what a text links to: web addresses, @names and #tags."""

import re
import unicodedata
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from linkify_it import LinkifyIt

ADDRESS_CHARACTERS = 23
# As in Mastodon: not after a letter, "/" or "=", so that addresses and e-mail have no names.
_NAMES = re.compile(r"(?<![=/\w@])@([A-Za-z0-9_]+)(?:@([\w.-]+\w(?::\d+)?))?")
_TAGS = re.compile(r"(?<![=/\w#)&])#(\w*[^\W\d_]\w*)")
# Only whole addresses with a protocol: "example.com" alone stays text, as in Mastodon.
_ADDRESSES = LinkifyIt(options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
for _protocol in ("ftp:", "mailto:", "//"):
    _ADDRESSES.add(_protocol, None)


class TextSpan(NamedTuple):
    """A part of a text from `start` to before `end`."""

    start: int
    end: int
    text: str


class NameSpan(NamedTuple):
    """`@name`, or `@name@host`; `host` is empty without one. `name` is in lower case."""

    start: int
    end: int
    name: str
    host: str


class TextLinks(NamedTuple):
    """All that a text links to; no part is in two of them. `tags`: without "#", as typed."""

    addresses: list[TextSpan]
    names: list[NameSpan]
    tags: list[TextSpan]


def find_links(text: str) -> TextLinks:
    """What the text links to, each kind in its order. Cost: nothing for most texts."""
    addresses = _find_addresses(text)
    names = [_name_of(found) for found in _NAMES.finditer(text)] if "@" in text else []
    tags = [TextSpan(*m.span(), m[1]) for m in _TAGS.finditer(text)] if "#" in text else []
    if addresses:
        names = [name for name in names if not _is_inside(name, addresses)]
        tags = [tag for tag in tags if not _is_inside(tag, addresses)]
    return TextLinks(addresses, names, tags)


def count_characters(text: str) -> int:
    """The length of a text as Mastodon counts it: an address has 23, and hosts of names have 0."""
    links = find_links(text)
    hosts = sum(len(one.host) + 1 for one in links.names if one.host)
    beyond = sum(one.end - one.start - ADDRESS_CHARACTERS for one in links.addresses)
    return len(text) - hosts - beyond


def is_here(name: NameSpan) -> bool:
    """Whether the name is one of this site: without a host, or with this one."""
    return name.host in ("", urlsplit(settings.PUBLIC_URL).netloc.lower())


def normalize_tag(name: str) -> str:
    """The form in which two spellings of a tag are the same tag."""
    return unicodedata.normalize("NFKC", name).lower()


def _find_addresses(text: str) -> list[TextSpan]:
    found = _ADDRESSES.match(text) if "://" in text else None
    return [TextSpan(one.index, one.last_index, one.raw) for one in found or ()]


def _name_of(found: re.Match[str]) -> NameSpan:
    return NameSpan(*found.span(), found[1].lower(), (found[2] or "").lower())


def _is_inside(part: TextSpan | NameSpan, addresses: list[TextSpan]) -> bool:
    return any(address.start < part.end and part.start < address.end for address in addresses)
