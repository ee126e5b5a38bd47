"""Django's registration of relations.lists: an app of its own for its two tables."""

from django.apps import AppConfig


class ListsConfig(AppConfig):
    name = "relations.lists"
    label = "lists"
