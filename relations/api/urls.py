"""Routes of relations and account lists."""

from django.urls import path

from relations.api.views.acts import (
    AuthorizeRequestView,
    BlockView,
    EndorseView,
    FollowView,
    MuteView,
    NoteView,
    RejectRequestView,
    RemoveFollowerView,
    UnblockView,
    UndoView,
    UnendorseView,
    UnfollowView,
    UnmuteView,
)
from relations.api.views.edge_lists import (
    BlocksView,
    EndorsedAccountsView,
    EndorsementsView,
    FollowersView,
    FollowingView,
    FollowRequestsView,
    MutesView,
    QuietFollowersView,
    QuietFollowingView,
    RelationCountsView,
    SpecialFollowingView,
)
from relations.api.views.relationships import (
    FamiliarFollowersView,
    FollowedByView,
    RelationshipsView,
)
from relations.lists.api.views import ListAccountsView, ListsView, ListsWithView, ListView
from relations.suggestions.api.views import (
    SuggestedAccountsView,
    SuggestionsView,
    SuggestionView,
)

_ACCOUNT = "api/v1/accounts/<account:account_id>"
_REQUEST = "api/v1/follow_requests/<account:account_id>"

urlpatterns = [
    path("api/v1/accounts/relationships", RelationshipsView.as_view()),
    path("api/v1/accounts/followed_by", FollowedByView.as_view()),
    path("api/v1/accounts/familiar_followers", FamiliarFollowersView.as_view()),
    path("api/v1/accounts/relation_counts", RelationCountsView.as_view()),
    path("api/v1/accounts/quiet_followers", QuietFollowersView.as_view()),
    path("api/v1/accounts/quiet_following", QuietFollowingView.as_view()),
    path("api/v1/accounts/special_following", SpecialFollowingView.as_view()),
    path("api/v1/follow_requests", FollowRequestsView.as_view()),
    path(f"{_REQUEST}/authorize", AuthorizeRequestView.as_view()),
    path(f"{_REQUEST}/reject", RejectRequestView.as_view()),
    path("api/v1/endorsements", EndorsementsView.as_view()),
    path("api/v1/blocks", BlocksView.as_view()),
    path("api/v1/mutes", MutesView.as_view()),
    path(f"{_ACCOUNT}/follow", FollowView.as_view()),
    path(f"{_ACCOUNT}/unfollow", UnfollowView.as_view()),
    path(f"{_ACCOUNT}/undo", UndoView.as_view()),
    path(f"{_ACCOUNT}/remove_from_followers", RemoveFollowerView.as_view()),
    path(f"{_ACCOUNT}/block", BlockView.as_view()),
    path(f"{_ACCOUNT}/unblock", UnblockView.as_view()),
    path(f"{_ACCOUNT}/mute", MuteView.as_view()),
    path(f"{_ACCOUNT}/unmute", UnmuteView.as_view()),
    path(f"{_ACCOUNT}/note", NoteView.as_view()),
    path(f"{_ACCOUNT}/followers", FollowersView.as_view()),
    path(f"{_ACCOUNT}/following", FollowingView.as_view()),
    path(f"{_ACCOUNT}/endorse", EndorseView.as_view()),
    path(f"{_ACCOUNT}/unendorse", UnendorseView.as_view()),
    path(f"{_ACCOUNT}/pin", EndorseView.as_view(schema=None)),  # the name before Mastodon 4.4
    path(f"{_ACCOUNT}/unpin", UnendorseView.as_view(schema=None)),
    path(f"{_ACCOUNT}/endorsements", EndorsedAccountsView.as_view()),
    path("api/v1/lists", ListsView.as_view()),
    path("api/v1/lists/<str:list_id>", ListView.as_view()),
    path("api/v1/lists/<str:list_id>/accounts", ListAccountsView.as_view()),
    path(f"{_ACCOUNT}/lists", ListsWithView.as_view()),
    path("api/v2/suggestions", SuggestionsView.as_view()),
    path("api/v1/suggestions", SuggestedAccountsView.as_view()),
    path("api/v1/suggestions/<account:account_id>", SuggestionView.as_view()),
]
