"""The metrics of counts."""

from counters.periodic import DRIFT
from infra.caching.database_reports import ReportCollector, ReportGauge

DRIFT_COLLECTOR = ReportCollector(
    DRIFT,
    [
        ReportGauge(
            "tideline_counter_drift",
            "Counts found wrong by samples (`audit counters`)",
            lambda audit: sum(audit.wrong.values()),
        ),
        ReportGauge(
            "tideline_counter_sampled_at_seconds",
            "When counts were last sampled",
            lambda audit: audit.at_s,
        ),
    ],
)
