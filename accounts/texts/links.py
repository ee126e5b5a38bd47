"""Finds what a text links to: web addresses, @names and #tags. Cost: linear in the text.

A word is what Unicode says (UTS 18): letters, marks, digits, connectors and joiners; `\\w` of the
module regex. Python's own `\\w` has no marks, and cuts the words of half of the world.

Finds web addresses in a text, and where each ends. Cost: linear in the text.

Only whole addresses with a protocol: "example.com" alone stays text, as in Mastodon. The page's
script finds the same ones (pages/static/pages/count.js).
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import regex
from django.conf import settings

from accounts.texts.lengths import BYTES_EACH, count_graphemes, is_longer

# ruff: noqa: RUF001 - signs of other scripts are meant

# A longer one stays text, and so it counts with all its characters.
LONGEST_ADDRESS, LONGEST_HOST = 2_048, 255
# Up to a blank, or a sign that people write around addresses: quotes and three dots.
_CANDIDATES = regex.compile(r"(?<![\w@$#/])https?://[^\s\p{Cc}<>\"“”„‟‘’‚«»‹›…]+", regex.IGNORECASE)
_HOST = regex.compile(r"https?://([\p{L}\p{N}][\w-]*(?:\.[\w-]+)*)(?::\d{1,5})?", regex.IGNORECASE)
# An address goes on after its host with one of these; a name before a host is a trick, no address.
_NEXT, _REFUSED = ("/", "?", "#"), ("@", ":")
_PAIRS = {
    end: start
    for start, end in ("()", "[]", "{}", "「」", "『』", "（）", "【】", "《》", "〈〉", "［］")
}
_STARTS = frozenset(_PAIRS.values())
# The end of a sentence, in several scripts, is not the end of an address.
_SENTENCE_ENDS = ".,:;!?'*。、，．：；！？।،؛؟"


def find_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where each address starts and ends."""
    if "://" not in text:
        return
    for match in _CANDIDATES.finditer(text):
        length = _length_of(match[0])
        if 0 < length <= LONGEST_ADDRESS:
            yield match.start(), match.start() + length


def _length_of(candidate: str) -> int:
    """How many characters of it are the address; 0: none."""
    host = _HOST.match(candidate)
    if host is None or len(host[1]) > LONGEST_HOST or candidate.startswith(_REFUSED, host.end()):
        return 0
    if not candidate.startswith(_NEXT, host.end()):
        return host.end()
    whole = candidate[: _end_of_pairs(candidate)]
    return max(host.end(), len(whole.rstrip(_SENTENCE_ENDS)))


def _end_of_pairs(candidate: str) -> int:
    """Up to the first bracket without its partner: `(https://a.b/c_(d))` ends before the last."""
    open_: list[tuple[str, int]] = []
    for place, sign in enumerate(candidate):
        if sign in _STARTS:
            open_.append((sign, place))
        elif sign in _PAIRS and (not open_ or open_.pop()[0] != _PAIRS[sign]):
            return place
    return open_[0][1] if open_ else len(candidate)


ADDRESS_CHARACTERS = 23
# As in Mastodon: not after a letter, "/" or "=", so that addresses and e-mail have no names.
_NAMES = regex.compile(
    rf"(?<![=/\w@])@([A-Za-z0-9_]++)(?!@[\w.-]{{{LONGEST_HOST + 1}}})"
    r"(?:@([\w.-]+\w(?::\d{1,5})?))?"
)
# What begins a tag: also the sign as Japanese keyboards write it, of full width.
TAG_SIGNS = "#\uff03"
# As in Mastodon: dots between words may be inside. A joiner at the end joins nothing.
_TAGS = regex.compile(
    rf"(?<![=/\w{TAG_SIGNS})&])[{TAG_SIGNS}](?=[\w·・]*\p{{Alphabetic}})(\w[\w·・]*)(?<![·・\u200c\u200d])"
)

_PART_OF_TAG = regex.compile(r"\w[\w·・]*")


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


P = TypeVar("P", TextSpan, NameSpan)


class TextLinks(NamedTuple):
    """All that a text links to; no part is in two of them. `tags`: without the sign, as typed."""

    addresses: list[TextSpan]
    names: list[NameSpan]
    tags: list[TextSpan]


def find_links(text: str) -> TextLinks:
    """What the text links to, each kind in its order. Cost: nothing for most texts."""
    addresses = [TextSpan(start, end, text[start:end]) for start, end in find_addresses(text)]
    names = [_name_of(match) for match in _NAMES.finditer(text)] if "@" in text else []
    has_sign = any(sign in text for sign in TAG_SIGNS)
    tags = [TextSpan(m.start(), m.end(), m[1]) for m in _TAGS.finditer(text)] if has_sign else []
    if addresses:
        names, tags = list(_outside(names, addresses)), list(_outside(tags, addresses))
    return TextLinks(addresses, names, tags)


def exceeds(text: str, most: int, warning: str = "") -> bool:
    """Whether a post has more than `most` characters, or is too heavy to keep.

    Counted as Mastodon does: an address has 23 characters, and hosts of names have none.
    """
    if len((text + warning).encode()) > most * BYTES_EACH:
        return True
    return is_longer(_countable(text) + warning, most)


def count_characters(text: str) -> int:
    """The length of a text as `exceeds` counts it."""
    return count_graphemes(_countable(text))


def is_here(name: NameSpan) -> bool:
    """Whether the name is one of this site: without a host, or with this one."""
    return name.host in ("", urlsplit(settings.PUBLIC_URL).netloc.lower())


def normalize_tag(name: str) -> str:
    """The form in which two spellings of a tag are the same tag."""
    return unicodedata.normalize("NFKC", name).lower()


def without_tag_sign(text: str) -> str:
    """The text after the sign of a tag, if there is one."""
    return text.lstrip(TAG_SIGNS)


def is_part_of_tag(text: str) -> bool:
    """Whether a tag can begin with this text, which has no sign."""
    return _PART_OF_TAG.fullmatch(text) is not None


def _countable(text: str) -> str:
    """The text with 23 letters for each address, and without hosts of names."""
    links = find_links(text)
    replaced = [
        (address.start, address.end, "x" * ADDRESS_CHARACTERS) for address in links.addresses
    ]
    replaced += [(name.end - len(name.host) - 1, name.end, "") for name in links.names if name.host]
    parts, at = [], 0
    for start, end, counted in sorted(replaced):
        parts += [text[at:start], counted]
        at = end
    return "".join((*parts, text[at:]))


def _name_of(match: "regex.Match[str]") -> NameSpan:
    return NameSpan(match.start(), match.end(), match[1].lower(), (match[2] or "").lower())


def _outside(parts: Iterable[P], addresses: Sequence[TextSpan]) -> Iterator[P]:
    """Those that overlap no address. All are in their order, so each is looked at once."""
    at = 0
    for part in parts:
        while at < len(addresses) and addresses[at].end <= part.start:
            at += 1
        if at == len(addresses) or part.end <= addresses[at].start:
            yield part
