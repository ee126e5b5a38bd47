"""Django's registration of infra.admin: its templates and styles."""

from django.apps import AppConfig


class AdminBaseConfig(AppConfig):
    name = "infra.admin"
    label = "keyset"
