"""Routes of relations."""

from django.urls import path

from relations.api.views.follow import FollowView, RemoveFollowerView, UnfollowView
from relations.api.views.lists import FollowersView, FollowingView
from relations.api.views.relationships import FollowedByView, RelationshipsView

_ACCOUNT = "api/v1/accounts/<account:account_id>"

urlpatterns = [
    path("api/v1/accounts/relationships", RelationshipsView.as_view()),
    path("api/v1/accounts/followed_by", FollowedByView.as_view()),
    path(f"{_ACCOUNT}/follow", FollowView.as_view()),
    path(f"{_ACCOUNT}/unfollow", UnfollowView.as_view()),
    path(f"{_ACCOUNT}/remove_from_followers", RemoveFollowerView.as_view()),
    path(f"{_ACCOUNT}/followers", FollowersView.as_view()),
    path(f"{_ACCOUNT}/following", FollowingView.as_view()),
]
