"""Django's registration of posts."""

from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "posts"
