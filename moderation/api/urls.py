"""Routes of moderation."""

from django.urls import path

from moderation.api.views import AppealView, ReportsView, StrikesView

urlpatterns = [
    path("api/v1/reports", ReportsView.as_view()),
    # Mastodon.py asks with a slash at the end.
    path("api/v1/reports/", ReportsView.as_view(schema=None)),
    path("api/v1/strikes", StrikesView.as_view()),
    path("api/v1/strikes/<int:strike_id>/appeal", AppealView.as_view()),
]
