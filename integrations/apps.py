"""Registers integrations with Django."""

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"
