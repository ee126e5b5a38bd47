"""Django's registration of operations.moves."""

from django.apps import AppConfig


class MovesConfig(AppConfig):
    name = "operations.moves"
    label = "moves"
