"""Sets of buckets: exactly the buckets that were meant, with the smallest mask."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.sharding.bucket_set import BucketSet, describe_buckets, take_share
from infra.sharding.buckets import BUCKET_COUNT

DEALT = range(0, BUCKET_COUNT, 4)


def test_a_quarter_of_a_shard_that_was_dealt_in_turn():
    quarter = take_share(DEALT, Fraction(1, 4))
    assert quarter == BucketSet(15, (0,))
    assert quarter.buckets() == list(range(0, BUCKET_COUNT, 16))
    assert quarter.size == 1024
    assert quarter.condition("owner_id") == "((owner_id & 15) = ANY ('{0}'::bigint[]))"


@pytest.mark.parametrize("share", ["1", "1/2", "1/3", "2/7", "1/4096"])
def test_any_share_of_what_is_owned(share):
    taken = take_share(DEALT, Fraction(share))
    assert {*taken.buckets()} <= {*DEALT}
    assert abs(taken.size - 4096 * Fraction(share)) < 1


def test_a_share_of_less_than_a_bucket_is_none():
    with pytest.raises(ValueError, match="less than one"):
        take_share(DEALT, Fraction(1, 10_000))


@given(st.sets(st.integers(0, BUCKET_COUNT - 1), min_size=1, max_size=40))
def test_a_set_is_exactly_its_buckets(buckets):
    described = describe_buckets(buckets)
    assert described.buckets() == sorted(buckets)
    assert described.size == len(buckets)


@given(st.integers(0, 2**63 - 1))
def test_the_condition_holds_for_wide_ids_as_for_their_buckets(owner):
    described = describe_buckets(DEALT)
    in_set = owner & described.mask in described.values
    assert in_set == (owner % BUCKET_COUNT in DEALT)
