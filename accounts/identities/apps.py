"""Django's registration of identities."""

from django.apps import AppConfig


class IdentitiesConfig(AppConfig):
    name = "accounts.identities"
