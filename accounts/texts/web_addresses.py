"""Finds web addresses in a text, and where each ends. Cost: linear in the text.

Only whole addresses with a protocol: "example.com" alone stays text, as in Mastodon. The page's
script finds the same ones (pages/static/pages/count.js).
"""

# ruff: noqa: RUF001 - signs of other scripts are meant

from collections.abc import Iterator

import regex

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
