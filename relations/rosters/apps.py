"""Django's registration of relations.rosters: an app of its own for its two tables."""

from django.apps import AppConfig


class RostersConfig(AppConfig):
    name = "relations.rosters"
    label = "rosters"
