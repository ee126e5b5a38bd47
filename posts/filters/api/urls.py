"""Routes of filters."""

from django.urls import path

from posts.filters.api.phrase_views import PhraseFiltersView, PhraseFilterView
from posts.filters.api.views import (
    FilterKeywordsView,
    FilterKeywordView,
    FilterStatusesView,
    FilterStatusView,
    FiltersView,
    FilterView,
)

urlpatterns = [
    path("api/v2/filters", FiltersView.as_view()),
    path("api/v2/filters/keywords/<str:keyword_id>", FilterKeywordView.as_view()),
    path("api/v2/filters/statuses/<str:rule_id>", FilterStatusView.as_view()),
    path("api/v2/filters/<str:filter_id>", FilterView.as_view()),
    path("api/v2/filters/<str:filter_id>/keywords", FilterKeywordsView.as_view()),
    path("api/v2/filters/<str:filter_id>/statuses", FilterStatusesView.as_view()),
    path("api/v1/filters", PhraseFiltersView.as_view()),
    path("api/v1/filters/<str:keyword_id>", PhraseFilterView.as_view()),
]
