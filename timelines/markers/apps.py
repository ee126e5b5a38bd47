"""Django's registration of timelines.markers: an app of its own for its one table."""

from django.apps import AppConfig


class MarkersConfig(AppConfig):
    name = "timelines.markers"
    label = "markers"
