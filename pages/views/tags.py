"""Tags: the posts of one, the posts of all that the viewer follows, and the follows themselves."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from pages.texts import later as _
from pages.views.base import Context, WebPage
from pages.views.timelines import TimelinePage

TAG, FOLLOWED = "/api/v1/tags/{name}", "/api/v1/followed_tags"
MOST_FOLLOWED = 200


class TagPage(TimelinePage):
    """The posts with a tag, how much it was used, and who used it lately. Viewers can follow it."""

    filter_place = "public"
    path = "/api/v1/timelines/tag/{name}"
    title = "#{name}"
    template = "tag.html"

    def more(self, **names: Any) -> Context:
        return {"tag": self.api.get(TAG.format(**names)).body}


class FollowedTagsPage(TimelinePage):
    """The posts with any of the tags that the viewer follows, the tags, and the choice for home."""

    filter_place = "public"
    needs_viewer = True
    path = "/api/v1/timelines/followed_tags"
    title = _("Tags")
    template = "followed_tags.html"
    empty = _("Follow a tag, and public posts with it come here.")

    def more(self, **names: Any) -> Context:
        tags = self.api.get(FOLLOWED, {"limit": MOST_FOLLOWED}).body
        return {"tags": tags, "choice": self.api.get(f"{FOLLOWED}/settings").body}


class TagsAtHome(WebPage):
    """Chooses whether home shows posts with followed tags."""

    needs_viewer = True

    def post(self, request: HttpRequest) -> HttpResponseBase:
        self.api.send("PUT", f"{FOLLOWED}/settings", {"home": "home" in request.POST})
        return self.go_back("/followed_tags")


class TagFollow(WebPage):
    """Follows a tag, or ends that. May run twice."""

    needs_viewer = True

    def post(self, request: HttpRequest, name: str, act: str) -> HttpResponseBase:
        tag = self.api.send("POST", f"{TAG.format(name=name)}/{act}").body
        if self.is_partial:
            return self.draw("parts/tag_acts.html", {"tag": tag})
        return self.go_back(f"/tags/{name}")
