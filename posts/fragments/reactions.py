"""Reactions in the JSON of a post: places of numbers, which the answer replaces by names.

    "reactions":"<mark>32:5,33:1"       the counts of a post (posts/cache/counts.py)
    "reactions":"<mark>32:5,33:1;32"    with those that are the reader's own

A post without reactions has no such field. Names never change, so the places are opened at the very
end, and an answer keeps its ETag.
"""

import re
from collections.abc import Callable, Mapping

import orjson

from counters.kinds import DECLARED

# One byte, of a character that people hardly send.
_MARK = "\x7f"
REACTIONS_BYTE = _MARK.encode()
# A post's counts, and those of its reactions.
REACTION_COUNTS = b'%%b,"reactions":"%b%%b"' % REACTIONS_BYTE
PLACE = re.compile(rb',"reactions":"%b([\d:,]*);?([\d,]*)"' % REACTIONS_BYTE)
# The flags of a viewer, from this one on, are reactions.
LEAST_FLAG = 1 << DECLARED.start
# The name of a reaction; None if there is none with this number.
NameOf = Callable[[int], str | None]


def with_own_reactions(counts: bytes, flags: int) -> tuple[bytes, int]:
    """The JSON of a post's counts, with the reader's reactions in a place; and the other flags."""
    own = ",".join(str(kind) for kind in DECLARED if flags & 1 << kind).encode()
    has_place = b'"reactions"' in counts
    with_own = (
        b'%b;%b"' % (counts[:-1], own) if has_place else REACTION_COUNTS % (counts, b";" + own)
    )
    return with_own, flags % LEAST_FLAG


def count_at(place: str | None, kind: int, count: int) -> str:
    """The place with another count of this reaction, for an entity as parsed JSON. None: it has no
    place yet."""
    counts, _, own = (place or _MARK).removeprefix(_MARK).partition(";")
    each = dict(part.split(":") for part in counts.split(",") if part)
    each[str(kind)] = str(count)
    return f"{_MARK}{','.join(map(':'.join, sorted(each.items())))};{own}"


def open_reactions(body: bytes, name_of: NameOf) -> bytes:
    """An answer with the names of its reactions; the same bytes without any."""

    def present(match: re.Match[bytes]) -> bytes:
        counts = {int(k): int(n) for k, n in (part.split(b":") for part in _parts(match[1]))}
        shown = _present(counts, {int(kind) for kind in _parts(match[2])}, name_of)
        return b',"reactions":%b' % orjson.dumps(shown) if shown else b""

    return PLACE.sub(present, body)


def _parts(text: bytes) -> list[bytes]:
    return text.split(b",") if text else []


def _present(counts: Mapping[int, int], own: set[int], name_of: NameOf) -> list[dict[str, object]]:
    """In the order in which they were declared."""
    named = ((kind, name_of(kind)) for kind in sorted({*counts, *own}))
    return [
        {"name": name, "count": counts.get(kind, 0), "me": kind in own}
        for kind, name in named
        if name is not None and (counts.get(kind) or kind in own)
    ]
