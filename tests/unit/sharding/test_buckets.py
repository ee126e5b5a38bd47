"""The even map of a new installation, and owners to buckets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.sharding.buckets import BUCKET_COUNT, bucket_of, even_map


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 7])
def test_buckets_are_dealt_out_evenly(shards):
    names = [f"shard{n}" for n in range(shards)]
    counts = Counter(even_map(names))
    assert set(counts) == set(names)
    assert sum(counts.values()) == BUCKET_COUNT
    assert max(counts.values()) - min(counts.values()) <= 1


@given(st.integers(0, 2**63 - 1))
def test_every_account_has_a_bucket(account_id):
    assert bucket_of(account_id) == account_id % 16_384


def test_neighbouring_accounts_go_to_different_shards():
    shards = even_map(["shard0", "shard1", "shard2", "shard3"])
    assert {shards[bucket_of(n)] for n in range(1, 5)} == set(shards)
