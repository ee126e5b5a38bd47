"""Routes of lists."""

from django.urls import path

from relations.lists.api.views import ListAccountsView, ListsView, ListsWithView, ListView

urlpatterns = [
    path("api/v1/lists", ListsView.as_view()),
    path("api/v1/lists/<str:list_id>", ListView.as_view()),
    path("api/v1/lists/<str:list_id>/accounts", ListAccountsView.as_view()),
    path("api/v1/accounts/<account:account_id>/lists", ListsWithView.as_view()),
]
