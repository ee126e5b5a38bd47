"""Django's registration of operations and of its admin site."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class OperationsConfig(AppConfig):
    name = "operations"


class TidelineAdminConfig(admin_apps.AdminConfig):
    """Django's admin with our site."""

    default = False  # "operations" in INSTALLED_APPS means OperationsConfig
    default_site = "operations.site.TidelineSite"
