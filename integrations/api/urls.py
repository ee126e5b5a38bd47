"""Routes of integrations."""

from django.urls import path

from integrations.api.views import EventsView, RelationsView

urlpatterns = [
    path("api/v1/services/events", EventsView.as_view()),
    path("api/v1/services/relations", RelationsView.as_view()),
]
