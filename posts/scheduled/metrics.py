"""Metrics of scheduled posts."""

from prometheus_client import Counter

# `failed`: its author has to do something. `put_off`: another shard is away.
PUBLISHED = Counter(
    "tideline_scheduled_posts_total",
    (
        "Scheduled posts that were due: `published`, `failed` (its author has to do "
        "something), `put_off` (a shard that it needs was away)"
    ),
    ["outcome"],
)
for outcome in ("published", "failed", "put_off"):
    PUBLISHED.labels(outcome)
