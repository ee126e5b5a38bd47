"""Registers moderation with Django: consumers, parts of answers, metrics and groups."""

from importlib import import_module

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from infra.api.live_parts import register_live_part
from infra.telemetry.gauges import STORE_METRICS


class ModerationConfig(AppConfig):
    name = "moderation"

    def ready(self) -> None:
        import_module("moderation.consumers")
        place = import_module("notifications.api.warning_place")
        live = import_module("moderation.api.live_warnings")
        register_live_part(place.FIRST_BYTE, live.fill_warnings)
        metrics = import_module("moderation.metrics")
        STORE_METRICS.register(metrics.QueueCollector())
        STORE_METRICS.register(metrics.DecisionsCollector())
        # Runs after the permissions of all apps were created: of those that have models.
        create_groups = import_module("moderation.groups").create_groups_after_migrating
        last = [config for config in apps.get_app_configs() if config.models_module][-1]
        post_migrate.connect(create_groups, sender=last)
