"""Routes of posts."""

from django.urls import path, register_converter

from posts.api.converters import PostIdConverter
from posts.api.views import StatusesView, StatusView

register_converter(PostIdConverter, "post")

urlpatterns = [
    path("api/v1/statuses", StatusesView.as_view()),
    path("api/v1/statuses/<post:status_id>", StatusView.as_view()),
]
