"""The metrics of counts."""

from counters.periodic import DRIFT
from infra.caching.database_reports import ReportCollector, ReportGauge

DRIFT_COLLECTOR = ReportCollector(
    DRIFT,
    [
        ReportGauge(
            "tideline_counter_drift",
            "Counts that samples found to differ from their rows, and that still do",
            lambda audit: sum(audit.wrong.values()),
        ),
        ReportGauge(
            "tideline_counter_sampled_at_seconds",
            "When counts of the shard were last sampled, in Unix seconds",
            lambda audit: audit.at_s,
        ),
    ],
)
