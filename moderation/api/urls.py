"""Routes of moderation."""

from django.urls import path

from moderation.api.views import AppealView, ReportsView, StrikesView

urlpatterns = [
    path("api/v1/reports", ReportsView.as_view()),
    path("api/v1/strikes", StrikesView.as_view()),
    path("api/v1/strikes/<int:strike_id>/appeal", AppealView.as_view()),
]
