"""Sets of buckets, as a condition on an owner's id that PostgreSQL checks for each row.

A set is a mask and the values that the masked bits may have: buckets 0, 16, 32, … are mask 15 and
value 0. Shards have such sets, because a new installation deals its buckets in turn.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

BUCKET_COUNT = 16_384  # a power of two: it can be split again without moving rows
_BITS = BUCKET_COUNT.bit_length() - 1


class BucketSet(NamedTuple):
    """`mask`: one less than a power of two, at most BUCKET_COUNT."""

    mask: int
    values: tuple[int, ...]

    def condition(self, column: str) -> str:
        """SQL that is true for rows of the set. Legal as the row filter of a publication."""
        values = ",".join(map(str, self.values))
        return f"(({column} & {self.mask}) = ANY ('{{{values}}}'::bigint[]))"

    def buckets(self) -> list[int]:
        allowed = {*self.values}
        return [bucket for bucket in range(BUCKET_COUNT) if bucket & self.mask in allowed]

    @property
    def size(self) -> int:
        return len(self.values) * (BUCKET_COUNT // (self.mask + 1))


def describe_buckets(buckets: Collection[int]) -> BucketSet:
    """The set of exactly these buckets, with the smallest mask."""
    for bits in range(_BITS + 1):
        described = BucketSet((1 << bits) - 1, _values(buckets, bits))
        if described.size == len(buckets):
            return described
    raise ValueError("buckets must be distinct and below BUCKET_COUNT")


def take_share(owned: Sequence[int], share: Fraction) -> BucketSet:
    """About this share of the buckets of a shard, spread evenly. Raises: ValueError if none."""
    described = describe_buckets(owned)
    bits = described.mask.bit_length()
    while bits < _BITS and (len(_values(owned, bits)) * share).denominator > 1:
        bits += 1
    values = _values(owned, bits)
    wanted = round(len(values) * share)
    if not wanted:
        raise ValueError(f"{share} of {len(owned)} buckets is less than one")
    chosen = [values[n * len(values) // wanted] for n in range(wanted)]
    return BucketSet((1 << bits) - 1, tuple(chosen))


def _values(buckets: Collection[int], bits: int) -> tuple[int, ...]:
    return tuple(sorted({bucket & ((1 << bits) - 1) for bucket in buckets}))
