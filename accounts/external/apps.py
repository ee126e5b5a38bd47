"""Django's registration of external ids of accounts."""

from django.apps import AppConfig


class ExternalAccountsConfig(AppConfig):
    name = "accounts.external"
    label = "external_accounts"
