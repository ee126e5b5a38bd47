"""Routes of timelines."""

from django.urls import include, path

from timelines.api.news import HomeNewsView
from timelines.api.public import ListTimelineView, PublicView
from timelines.api.views import AuthorView, HomeView
from timelines.catch_up.api.views import CatchUpView

urlpatterns = [
    path("api/v1/timelines/home", HomeView.as_view()),
    path("api/v1/timelines/home/news", HomeNewsView.as_view()),
    path("api/v1/timelines/home/catch_up", CatchUpView.as_view()),
    path("api/v1/timelines/public", PublicView.as_view()),
    path("api/v1/timelines/list/<str:list_id>", ListTimelineView.as_view()),
    path("api/v1/accounts/<account:account_id>/statuses", AuthorView.as_view()),
    path("", include("timelines.tags.api.urls")),
    path("", include("timelines.markers.api.urls")),
    path("", include("timelines.trends.api.urls")),
    path("", include("timelines.promotions.api.urls")),
]
