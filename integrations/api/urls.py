"""Routes of integrations."""

from django.urls import path

from integrations.api.objects import (
    ObjectKindsView,
    ObjectKindView,
    ObjectsView,
    ObjectView,
)
from integrations.api.post_types import PostTypesView, PostTypeView
from integrations.api.reactions import ReactionsView, ReactionView
from integrations.api.views import (
    EventsView,
    ExternalIdsView,
    MutualsView,
    RelationsView,
    ServiceAccountsView,
    ServiceAccountView,
)

urlpatterns = [
    path("api/v1/services/events", EventsView.as_view()),
    path("api/v1/services/relations", RelationsView.as_view()),
    path("api/v1/services/mutuals/<account:account_id>", MutualsView.as_view()),
    path("api/v1/services/accounts", ServiceAccountsView.as_view()),
    path("api/v1/services/accounts/<str:external_id>", ServiceAccountView.as_view()),
    path("api/v1/services/external_ids", ExternalIdsView.as_view()),
    path("api/v1/services/post_types", PostTypesView.as_view()),
    path("api/v1/services/post_types/<str:type_name>", PostTypeView.as_view()),
    path("api/v1/services/object_kinds", ObjectKindsView.as_view()),
    path("api/v1/services/object_kinds/<str:kind>", ObjectKindView.as_view()),
    path("api/v1/services/objects", ObjectsView.as_view()),
    path("api/v1/services/objects/<str:kind>/<str:external_id>", ObjectView.as_view()),
    path("api/v1/services/reactions", ReactionsView.as_view()),
    path("api/v1/services/reactions/<str:reaction_name>", ReactionView.as_view()),
]
