"""Routes of integrations."""

from django.urls import path

from integrations.api.views.accounts import (
    ExternalIdsView,
    ServiceAccountsView,
    ServiceAccountView,
)
from integrations.api.views.events import EventsView
from integrations.api.views.relations import MutualsView, RelationsView

urlpatterns = [
    path("api/v1/services/events", EventsView.as_view()),
    path("api/v1/services/relations", RelationsView.as_view()),
    path("api/v1/services/mutuals/<account:account_id>", MutualsView.as_view()),
    path("api/v1/services/accounts", ServiceAccountsView.as_view()),
    path("api/v1/services/accounts/<str:external_id>", ServiceAccountView.as_view()),
    path("api/v1/services/external_ids", ExternalIdsView.as_view()),
]
