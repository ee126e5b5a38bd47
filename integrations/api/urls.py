"""Routes of integrations."""

from django.urls import path

from integrations.api.views import EventsView

urlpatterns = [
    path("api/v1/services/events", EventsView.as_view()),
]
