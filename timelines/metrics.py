"""What /metrics shows of live timelines."""

from infra.caching.report_metrics import ReportCollector, ReportGauge
from timelines.sampling import HOLES

HOLES_COLLECTOR = ReportCollector(
    HOLES,
    [
        ReportGauge(
            "tideline_timeline_holes",
            "Entries that live timelines lack, as samples found it",
            lambda found: sum(found.wrong.values()),
        ),
        ReportGauge(
            "tideline_timeline_complete_ratio",
            "Share of the entries that the timelines last sampled have, of what they should",
            lambda found: found.complete_ratio,
        ),
        ReportGauge(
            "tideline_timeline_sampled_at_seconds",
            "When timelines of the shard were last sampled, in Unix seconds",
            lambda found: found.at_s,
        ),
    ],
)
