"""Django's registration of infra.changes."""

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "infra.changes"
    label = "changes"
