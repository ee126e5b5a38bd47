"""The Django app of account lists. It is an app of its own for its two tables."""

from django.apps import AppConfig


class ListsConfig(AppConfig):
    name = "relations.lists"
    label = "lists"
