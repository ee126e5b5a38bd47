"""Hits and misses by family and tier."""

from prometheus_client import REGISTRY

from infra.caching.metrics import count_reads


def reads(family, tier, outcome):
    labels = {"family": family, "tier": tier, "outcome": outcome}
    return REGISTRY.get_sample_value("tideline_cache_reads_total", labels) or 0


def test_a_family_is_counted_without_its_layout_and_site():
    count_reads("tests.reads:v1:5f1d7a84", "redis", hits=3, misses=2)
    count_reads("tests.reads:v2", "redis", hits=1)
    assert reads("tests.reads", "redis", "hit") == 4
    assert reads("tests.reads", "redis", "miss") == 2
