"""Routes of posts."""

from django.urls import path, register_converter

from posts.api.converters import PostIdConverter
from posts.api.views import interactions, lists, statuses

register_converter(PostIdConverter, "post")

ONE = "api/v1/statuses/<post:status_id>"

urlpatterns = [
    path("api/v1/statuses", statuses.StatusesView.as_view()),
    path(ONE, statuses.StatusView.as_view()),
    path(f"{ONE}/context", statuses.ContextView.as_view()),
    path(f"{ONE}/reblog", interactions.ReblogView.as_view()),
    path(f"{ONE}/unreblog", interactions.UnreblogView.as_view()),
    path(f"{ONE}/favourite", interactions.FavouriteView.as_view()),
    path(f"{ONE}/unfavourite", interactions.UnfavouriteView.as_view()),
    path(f"{ONE}/bookmark", interactions.BookmarkView.as_view()),
    path(f"{ONE}/unbookmark", interactions.UnbookmarkView.as_view()),
    path(f"{ONE}/reblogged_by", lists.RebloggedByView.as_view()),
    path(f"{ONE}/favourited_by", lists.FavouritedByView.as_view()),
    path("api/v1/favourites", lists.FavouritesView.as_view()),
    path("api/v1/bookmarks", lists.BookmarksView.as_view()),
]
