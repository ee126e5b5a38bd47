"""Django's registration of posts.conversations: an app of its own, with its tables and consumer."""

from importlib import import_module

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "posts.conversations"
    label = "conversations"

    def ready(self) -> None:
        import_module("posts.conversations.consumers")
