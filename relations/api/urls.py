"""Routes of relations."""

from django.urls import path

from relations.api.views import (
    FollowersView,
    FollowingView,
    FollowView,
    RelationshipsView,
    RemoveFollowerView,
    UnfollowView,
)

_ACCOUNT = "api/v1/accounts/<account:account_id>"

urlpatterns = [
    path("api/v1/accounts/relationships", RelationshipsView.as_view()),
    path(f"{_ACCOUNT}/follow", FollowView.as_view()),
    path(f"{_ACCOUNT}/unfollow", UnfollowView.as_view()),
    path(f"{_ACCOUNT}/remove_from_followers", RemoveFollowerView.as_view()),
    path(f"{_ACCOUNT}/followers", FollowersView.as_view()),
    path(f"{_ACCOUNT}/following", FollowingView.as_view()),
]
