"""Registers our models with django-activity-stream."""

from django.apps import AppConfig


class ContendersConfig(AppConfig):
    name = "lab.bench.peers.contenders"
    label = "contenders"

    def ready(self) -> None:
        from actstream import registry  # noqa: PLC0415 - its models load with the apps
        from django.contrib.auth.models import User  # noqa: PLC0415

        registry.register(User, self.get_model("FeedPost"))
