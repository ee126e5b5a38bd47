"""Routes of searches."""

from django.urls import path

from timelines.search.api.views import AccountSearchView, DirectoryView, SearchView

urlpatterns = [
    path("api/v1/directory", DirectoryView.as_view()),
    path("api/v1/accounts/search", AccountSearchView.as_view()),
    path("api/v2/search", SearchView.as_view()),
]
