"""Django's registration of accounts; its consumers register on import."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        import_module("accounts.consumers")
