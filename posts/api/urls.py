"""Routes of posts."""

from django.urls import path, register_converter

from posts.api.converters import PostIdConverter
from posts.api.views import acts, lists, statuses

register_converter(PostIdConverter, "post")

ONE = "api/v1/statuses/<post:status_id>"

urlpatterns = [
    path("api/v1/statuses", statuses.StatusesView.as_view()),
    path(ONE, statuses.StatusView.as_view()),
    path(f"{ONE}/context", statuses.ContextView.as_view()),
    path(f"{ONE}/reblog", acts.ReblogView.as_view()),
    path(f"{ONE}/unreblog", acts.UnreblogView.as_view()),
    path(f"{ONE}/favourite", acts.FavouriteView.as_view()),
    path(f"{ONE}/unfavourite", acts.UnfavouriteView.as_view()),
    path(f"{ONE}/bookmark", acts.BookmarkView.as_view()),
    path(f"{ONE}/unbookmark", acts.UnbookmarkView.as_view()),
    path(f"{ONE}/reblogged_by", lists.RebloggedByView.as_view()),
    path(f"{ONE}/favourited_by", lists.FavouritedByView.as_view()),
    path("api/v1/favourites", lists.FavouritesView.as_view()),
    path("api/v1/bookmarks", lists.BookmarksView.as_view()),
]
