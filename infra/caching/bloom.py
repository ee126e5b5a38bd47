"""A Bloom filter in one string, small enough to fetch whole and test in this process (seed S2).

    bytes 0-3   capacity: the number of members that it has room for
    bytes 4-7   count: the number of members that changed a bit
    bytes 8-    bits, BITS_EACH for each of the capacity; bit n is 128 >> (n & 7) of byte n >> 3
    example     capacity 4, count 0: 00000004 00000000 0000000000

A member sets HASHES bits: (h1 + k * h2) mod bits, for k = 0, 1 …. h1 is the low half of its XXH3-64
and h2 the high half, made odd (Kirsch and Mitzenmacher 2006: two hashes are enough for seven). Lua
adds members in place (lua/relationships_change.lua) and never removes one.
"""

import struct
from collections.abc import Collection

from xxhash import xxh3_64_intdigest

BITS_EACH = 10
HASHES = 7
LEAST_SPARE = 32
_HEADER = struct.Struct(">II")
HEADER_BYTES = _HEADER.size
# Has no bits, so every test succeeds. Used when there are too many members for a filter.
OPEN_FILTER = bytes(HEADER_BYTES)


def make_filter(members: Collection[int], capacity: int) -> bytes:
    """A filter of these members. A full filter has 1 % false positives."""
    bits = bytearray(_bytes_for(capacity))
    size = len(bits) * 8
    for member in members:
        h1, h2 = hashes_of(member)
        for place in range(h1, h1 + HASHES * h2, h2):
            bit = place % size
            bits[bit >> 3] |= 128 >> (bit & 7)
    return _HEADER.pack(capacity, len(members)) + bits


def check_filter(data: bytes) -> bytes:
    """The same bytes. Raises: ValueError, struct.error if they are no filter."""
    capacity, _ = _HEADER.unpack_from(data)
    if len(data) != HEADER_BYTES + _bytes_for(capacity):
        raise ValueError("no filter has this length")
    return data


def count_members(data: bytes) -> int:
    """About how many members it has: those that changed a bit."""
    return int(_HEADER.unpack_from(data)[1])


def _bytes_for(capacity: int) -> int:
    return (capacity * BITS_EACH + 7) // 8


def capacity_for(count: int) -> int:
    """Room for half as many again, so that new members seldom need a new filter."""
    return count + max(LEAST_SPARE, count // 2)


def may_hold(data: bytes, member: int) -> bool:
    """False: certainly not a member."""
    size = (len(data) - HEADER_BYTES) * 8
    if not size:
        return True
    h1, h2 = hashes_of(member)
    for place in range(h1, h1 + HASHES * h2, h2):
        bit = place % size
        if not data[HEADER_BYTES + (bit >> 3)] & 128 >> (bit & 7):
            return False
    return True


def hashes_of(member: int) -> tuple[int, int]:
    """Two numbers of 32 bits. Lua adds eight of them without rounding."""
    digest = xxh3_64_intdigest(b"%d" % member)
    return digest & 0xFFFFFFFF, digest >> 32 | 1
