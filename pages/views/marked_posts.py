"""Lists about posts: own bookmarks and favourites, and who reposted or favourited a post."""

from typing import ClassVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.people import list_people
from pages.views.timelines import TimelinePage, cursors_of
from posts.ids import PostId


class BookmarksPage(TimelinePage):
    needs_viewer = True
    path = "/api/v1/bookmarks"
    title = _("Bookmarks")
    empty = _("You have no bookmarks yet. Only you see them.")
    icon = "bookmark"


class FavouritesPage(TimelinePage):
    needs_viewer = True
    path = "/api/v1/favourites"
    title = _("Favourites")
    empty = _("You have not favourited a post yet.")
    icon = "heart"


class RepostersPage(WebPage):
    """The accounts that reposted a post, the latest first."""

    path: ClassVar[str] = "reblogged_by"
    title: ClassVar[str] = _("Reposted by")
    empty: ClassVar[str] = _("There are no reposts yet.")

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        status = self.api.get(f"/api/v1/statuses/{status_id.public}").body
        status = status["reblog"] or status
        path = f"/api/v1/statuses/{status['id']}/{self.path}"
        people = self.api.get(path, cursors_of(request))
        context = {"title": self.title, "empty": self.empty, "status": status}
        return self.draw("responders.html", {**context, **list_people(self, people)})


class FavouritersPage(RepostersPage):
    """The accounts that favourited a post, the latest first."""

    path = "favourited_by"
    title = _("Favourited by")
    empty = _("There are no favourites yet.")
