"""Metrics of the streaming process."""

from prometheus_client import Counter, Histogram

from infra.telemetry.gauges import process_gauge

CONNECTIONS = process_gauge(
    "tideline_streaming_connections", "Open streams: `sse`, `websocket`", ["kind"], combine="sum"
)
MESSAGES = Counter(
    "tideline_streaming_messages_total", "Messages that were queued for streams", ["kind"]
)
ENDED = Counter(
    "tideline_streaming_ended_total",
    (
        "Streams that ended: `client_left`, `slow`, `token_ended`, `store_away`, `drained`, "
        "`feed_gone` (of a service), `failed` (a fault of ours, see the log)"
    ),
    ["why"],
)
REFUSED = Counter(
    "tideline_streaming_refused_total",
    "Streams that were refused, by the status of the answer",
    ["status"],
)
RESUMED = Counter(
    "tideline_streaming_resumed_total",
    "Clients that came back: `nothing_missed`, `replayed`, `reload`",
    ["outcome"],
)
DELAY = Histogram(
    "tideline_streaming_delay_seconds",
    "From the delivery of a change to the queueing of its messages",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
