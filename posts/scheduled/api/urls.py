"""Routes of scheduled posts."""

from django.urls import path

from posts.scheduled.api.views import ScheduledStatusesView, ScheduledStatusView

urlpatterns = [
    path("api/v1/scheduled_statuses", ScheduledStatusesView.as_view()),
    path("api/v1/scheduled_statuses/<str:scheduled_id>", ScheduledStatusView.as_view()),
]
