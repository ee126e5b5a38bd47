"""Routes of posts."""

from django.urls import path, register_converter

from infra.api.ids import MOST_DIGITS
from posts.api.views import (
    activity,
    declared_reactions,
    interactions,
    lists,
    polls,
    quotes,
    statuses,
    versions,
)
from posts.conversations.api.views import (
    ConversationsView,
    ConversationView,
    ReadConversationView,
    UnreadConversationView,
)
from posts.filters.api.phrase_views import PhraseFiltersView, PhraseFilterView
from posts.filters.api.views import (
    FilterKeywordsView,
    FilterKeywordView,
    FilterStatusesView,
    FilterStatusView,
    FiltersView,
    FilterView,
)
from posts.ids import PostId
from posts.scheduled.api.views import ScheduledStatusesView, ScheduledStatusView


class PostIdConverter:
    """`<post:status_id>` in a route: a PostId. Text that is no id matches no route: 404."""

    regex = f"[0-9a-z]{{1,{MOST_DIGITS}}}"

    def to_python(self, value: str) -> PostId:
        return PostId.from_public(value)

    def to_url(self, value: PostId) -> str:
        return value.public


register_converter(PostIdConverter, "post")

ONE = "api/v1/statuses/<post:status_id>"
# Its id is that of the first post of its thread.
CONVERSATION = "api/v1/conversations/<post:conversation_id>"

urlpatterns = [
    path("api/v1/instance/translation_languages", versions.TranslationLanguagesView.as_view()),
    path("api/v1/instance/activity", activity.ActivityView.as_view()),
    path("api/v1/instance/reactions", declared_reactions.DeclaredReactionsView.as_view()),
    path("api/v1/statuses", statuses.StatusesView.as_view()),
    path(ONE, statuses.StatusView.as_view()),
    path(f"{ONE}/history", versions.HistoryView.as_view()),
    path(f"{ONE}/source", versions.SourceView.as_view()),
    path(f"{ONE}/translate", versions.TranslateView.as_view()),
    path(f"{ONE}/context", statuses.ContextView.as_view()),
    path(f"{ONE}/reblog", interactions.ReblogView.as_view()),
    path(f"{ONE}/unreblog", interactions.UnreblogView.as_view()),
    path(f"{ONE}/favourite", interactions.FavouriteView.as_view()),
    path(f"{ONE}/unfavourite", interactions.UnfavouriteView.as_view()),
    path(f"{ONE}/bookmark", interactions.BookmarkView.as_view()),
    path(f"{ONE}/unbookmark", interactions.UnbookmarkView.as_view()),
    path(f"{ONE}/mute", interactions.MuteThreadView.as_view()),
    path(f"{ONE}/unmute", interactions.UnmuteThreadView.as_view()),
    path(f"{ONE}/pin", interactions.PinView.as_view()),
    path(f"{ONE}/unpin", interactions.UnpinView.as_view()),
    path(f"{ONE}/reblogged_by", lists.RebloggedByView.as_view()),
    path(f"{ONE}/favourited_by", lists.FavouritedByView.as_view()),
    path(f"{ONE}/react/<str:reaction>", interactions.ReactView.as_view()),
    path(f"{ONE}/unreact/<str:reaction>", interactions.UnreactView.as_view()),
    path(f"{ONE}/reacted_by/<str:reaction>", lists.ReactedByView.as_view()),
    path(f"{ONE}/quotes", lists.QuotesView.as_view()),
    path(f"{ONE}/quotes/<post:quoting_id>/revoke", quotes.RevokeQuoteView.as_view()),
    path(f"{ONE}/interaction_policy", quotes.InteractionPolicyView.as_view()),
    path("api/v1/polls/<post:poll_id>", polls.PollView.as_view()),
    path("api/v1/polls/<post:poll_id>/votes", polls.VotesView.as_view()),
    path("api/v1/favourites", lists.FavouritesView.as_view()),
    path("api/v1/bookmarks", lists.BookmarksView.as_view()),
    path("api/v2/filters", FiltersView.as_view()),
    path("api/v2/filters/keywords/<str:keyword_id>", FilterKeywordView.as_view()),
    path("api/v2/filters/statuses/<str:rule_id>", FilterStatusView.as_view()),
    path("api/v2/filters/<str:filter_id>", FilterView.as_view()),
    path("api/v2/filters/<str:filter_id>/keywords", FilterKeywordsView.as_view()),
    path("api/v2/filters/<str:filter_id>/statuses", FilterStatusesView.as_view()),
    path("api/v1/filters", PhraseFiltersView.as_view()),
    path("api/v1/filters/<str:keyword_id>", PhraseFilterView.as_view()),
    path("api/v1/conversations", ConversationsView.as_view()),
    path(CONVERSATION, ConversationView.as_view()),
    path(f"{CONVERSATION}/read", ReadConversationView.as_view()),
    path(f"{CONVERSATION}/unread", UnreadConversationView.as_view()),
    path("api/v1/scheduled_statuses", ScheduledStatusesView.as_view()),
    path("api/v1/scheduled_statuses/<str:scheduled_id>", ScheduledStatusView.as_view()),
]
