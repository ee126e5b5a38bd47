"""Django's registration of infra.api; routes may say `<account:…>` from here on."""

from django.apps import AppConfig
from django.urls import register_converter

from infra.api.ids import AccountIdConverter


class ApiConfig(AppConfig):
    name = "infra.api"
    label = "api"

    def ready(self) -> None:
        register_converter(AccountIdConverter, "account")
