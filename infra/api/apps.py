"""Django's registration of infra.api."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "infra.api"
    label = "api"
