"""Django's registration of operations, of its admin site, and of the samples for its charts."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class OperationsConfig(AppConfig):
    name = "operations"

    def ready(self) -> None:
        import_module("operations.samples")


class TidelineAdminConfig(admin_apps.AdminConfig):
    """Django's admin with our site."""

    default = False  # "operations" in INSTALLED_APPS means OperationsConfig
    default_site = "operations.site.TidelineSite"
