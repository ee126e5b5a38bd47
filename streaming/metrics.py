"""Metrics of the streaming process."""

from prometheus_client import Counter, Histogram

from infra.telemetry.gauges import process_gauge

CONNECTIONS = process_gauge(
    "tideline_streaming_connections", "Open streams: sse or websocket", ["kind"], combine="sum"
)
MESSAGES = Counter("tideline_streaming_messages_total", "Messages that were queued", ["kind"])
ENDED = Counter(
    "tideline_streaming_ended_total",
    "Streams that ended: the client left, was too slow, or lost its token; a store was away; the"
    " process drained; a message failed; the position of a service is gone",
    ["why"],
)
REFUSED = Counter("tideline_streaming_refused_total", "Streams that were refused", ["status"])
RESUMED = Counter(
    "tideline_streaming_resumed_total", "Clients that came back with a position", ["outcome"]
)
DELAY = Histogram(
    "tideline_streaming_delay_seconds",
    "From the delivery of a change to the queueing of its messages",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
