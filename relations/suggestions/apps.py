"""The Django app of suggestions. It is an app of its own for its table."""

from django.apps import AppConfig


class SuggestionsConfig(AppConfig):
    name = "relations.suggestions"
    label = "suggestions"
