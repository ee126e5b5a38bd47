"""Django's registration of scheduled posts: an app of their own, with their table."""

from django.apps import AppConfig


class ScheduledPostsConfig(AppConfig):
    name = "posts.scheduled"
    label = "scheduled_posts"
