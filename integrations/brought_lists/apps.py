"""Django's registration of brought lists."""

from django.apps import AppConfig


class BroughtListsConfig(AppConfig):
    name = "integrations.brought_lists"
