"""Django's registration of moderation: its consumers, its chores, its part of /metrics."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from infra.telemetry.scraped import STORE_METRICS


class ModerationConfig(AppConfig):
    name = "moderation"

    def ready(self) -> None:
        import_module("moderation.consumers")
        import_module("moderation.periodic")
        import_module("moderation.sampling")
        import_module("moderation.decision_counts")
        metrics = import_module("moderation.metrics")
        STORE_METRICS.register(metrics.QueueCollector())
        STORE_METRICS.register(metrics.DecisionsCollector())
        # Permissions of apps listed before this one are there by then.
        lay = import_module("moderation.groups").create_groups_after_migrating
        post_migrate.connect(lay, sender=self)
