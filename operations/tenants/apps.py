"""Django's registration of operations.tenants."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "operations.tenants"
    label = "tenants"
