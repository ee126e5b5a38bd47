"""Metrics of integrations: what this process sent to webhooks, and how far behind they are."""

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import Counter, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import CachedProbe
from integrations.types import WebhookState
from integrations.webhooks.rows import ShownWebhook, list_webhooks

MESSAGES = Counter(
    "tideline_webhook_messages_total",
    "Messages to webhooks: `sent`, `refused` (another status than 2xx), `failed` (no answer)",
    ["outcome"],
)


class WebhookCollector(Collector):
    """One query of the default database, at most once in a few seconds. Without it no series."""

    def __init__(self) -> None:
        self._probe: CachedProbe[list[ShownWebhook]] = CachedProbe()

    def describe(self) -> Iterable[Metric]:
        """The families without samples, so that registering the collector makes no query."""
        return _families()

    def collect(self) -> Iterable[Metric]:
        states, behind = families = _families()
        webhooks = self._probe.ask({GLOBAL_ALIAS: list_webhooks}).get(GLOBAL_ALIAS)
        if webhooks is None:
            return families
        counts = Tally(webhook.state for webhook in webhooks)
        for state in WebhookState:
            states.add_metric([state.name.lower()], counts[state.name.lower()])
        for webhook in webhooks:
            behind.add_metric([str(webhook.id)], webhook.behind_s)
        return families


def _families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily(
            "tideline_webhooks", "Webhooks: `active`, `paused`, `parked`", labels=["state"]
        ),
        GaugeMetricFamily(
            "tideline_webhook_behind_seconds",
            "Events of a webhook that are older were sent",
            labels=["webhook"],
        ),
    )
