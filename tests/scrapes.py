"""What a scrape of /metrics would have of one collector."""

from prometheus_client.registry import Collector


def by_shard(collector: Collector, name: str) -> dict[str, float]:
    """The series of a gauge."""
    samples = [sample for family in collector.collect() for sample in family.samples]
    return {one.labels["shard"]: one.value for one in samples if one.name == name}
