"""Metrics of scheduled posts."""

from prometheus_client import Counter

# `failed`: its author has to do something. `put_off`: another shard is away.
PUBLISHED = Counter(
    "tideline_scheduled_posts_total", "Scheduled posts that were due, by outcome", ["outcome"]
)
for outcome in ("published", "failed", "put_off"):
    PUBLISHED.labels(outcome)
