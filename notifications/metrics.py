"""Metrics of notifications."""

from prometheus_client import Counter

ADDED = Counter("tideline_notifications_added_total", "Notifications that were added")
PUSHES = Counter(
    "tideline_pushes_total",
    (
        "Messages to push services: `sent`, `gone` (the subscription ended), `refused`, "
        "`late` (no answer in time)"
    ),
    ["outcome"],
)
