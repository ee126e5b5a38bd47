"""Django's registration of accounts; its consumers and chores register on import."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        import_module("accounts.consumers")
        import_module("accounts.retention")
