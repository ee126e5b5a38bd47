"""Routes of trends."""

from django.urls import path

from timelines.trends.api.views import TrendingLinksView, TrendingStatusesView, TrendingTagsView

urlpatterns = [
    path("api/v1/trends", TrendingTagsView.as_view()),  # the name before Mastodon 3.5
    path("api/v1/trends/tags", TrendingTagsView.as_view()),
    path("api/v1/trends/statuses", TrendingStatusesView.as_view()),
    path("api/v1/trends/links", TrendingLinksView.as_view()),
]
