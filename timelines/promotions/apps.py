"""Django's registration of timelines.promotions: an app of its own for its one table."""

from django.apps import AppConfig


class PromotionsConfig(AppConfig):
    name = "timelines.promotions"
    label = "promotions"
