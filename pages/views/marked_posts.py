"""Lists about posts: own bookmarks and favourites, and who reposted, favourited or reacted."""

from typing import ClassVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from pages.reactions import words_of
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
        return self.draw_responders(status_id, self.path, self.title)

    def draw_responders(self, status_id: PostId, path: str, title: str) -> HttpResponseBase:
        status = self.api.get(f"/api/v1/statuses/{status_id.public}").body
        status = status["reblog"] or status
        path = f"/api/v1/statuses/{status['id']}/{path}"
        people = self.api.get(path, cursors_of(self.request))
        context = {"title": title, "empty": self.empty, "status": status}
        return self.draw("responders.html", {**context, **list_people(self, people)})


class FavouritersPage(RepostersPage):
    """The accounts that favourited a post, the latest first."""

    path = "favourited_by"
    title = _("Favourited by")
    empty = _("There are no favourites yet.")


class ReactorsPage(RepostersPage):
    """The accounts that reacted to a post so, the latest first."""

    empty = _("No one reacted so yet.")

    def get(self, request: HttpRequest, status_id: PostId, reaction: str) -> HttpResponseBase:  # type: ignore[override]
        title = gettext("Reactions: %(words)s") % {"words": words_of(reaction)}
        return self.draw_responders(status_id, f"reacted_by/{reaction}", title)
