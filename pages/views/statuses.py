"""One post with its thread and its versions, and what people do with a post."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.composer import policy_of, reply_composer
from pages.site import Entity
from pages.views.base import WebPage
from pages.views.timelines import cursors_of, older_query
from posts.ids import PostId

# What a person can do with a post, as in the routes of the API.
ACTS = frozenset(
    f"{undo}{act}"
    for act in ("favourite", "reblog", "bookmark", "pin", "mute")
    for undo in ("", "un")
)
# Above a post, and below it.
POSTS_OF_THREAD = 60


class StatusPage(WebPage):
    """One post between what it answers and the answers to it."""

    filter_place = "thread"

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        path = f"/api/v1/statuses/{status_id.public}"
        status = self.api.get(path).body
        if status["reblog"]:
            # Its text is of another author, and a repost has no answers.
            return HttpResponseRedirect(f"/statuses/{status['reblog']['id']}")
        part = {"limit": POSTS_OF_THREAD, **cursors_of(request)}
        answer = self.api.get(f"{path}/context", part)
        thread = answer.body
        # The first post of a thread decides for all of it.
        posts = (*self._find_root(status, thread["ancestors"]), status)
        gates = [post for post in posts if is_limited(post)]
        may_reply = self.viewer and all(may_answer(gate) for gate in gates)
        composer = reply_composer(self, status, "thread") if may_reply else None
        context = {"status": status, "thread": thread, "composer": composer, "gates": gates[:1]}
        return self.draw("status.html", {**context, "older": older_query(request, answer)})

    def _find_root(self, status: Entity, ancestors: list[Entity]) -> list[Entity]:
        """The first post of the thread, unless it is this one or gone. A long thread is cut."""
        if not ancestors or ancestors[0]["in_reply_to_id"] is None:
            return ancestors[:1]
        try:
            return [self.api.get(f"/api/v1/statuses/{status['conversation_id']}").body]
        except ApiRefused:
            return []


def is_limited(status: Entity) -> bool:
    """Whether only some may reply."""
    return policy_of(status, "reply_approval") != "public"


def may_answer(status: Entity) -> bool:
    return bool(status["reply_approval"]["current_user"] == "automatic")


class HistoryPage(WebPage):
    """All versions of a post, the newest first."""

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        path = f"/api/v1/statuses/{status_id.public}"
        status, versions = self.api.get(path).body, self.api.get(f"{path}/history").body
        return self.draw("history.html", {"status": status, "versions": versions[::-1]})


class ImagePage(WebPage):
    """One image of a post, with its description: for browsers without scripts, and to share."""

    def get(self, request: HttpRequest, status_id: PostId, number: int) -> HttpResponseBase:
        status = self.api.get(f"/api/v1/statuses/{status_id.public}").body
        images = (status.get("reblog") or status)["media_attachments"]
        if not 1 <= number <= len(images):
            raise Http404
        context = {"status": status, "image": images[number - 1], "number": number}
        return self.draw("image.html", {**context, "most": len(images)})


class Vote(WebPage):
    """Votes on the poll of a post."""

    needs_viewer = True

    def post(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        path = f"/api/v1/polls/{status_id.public}/votes"
        poll = self.api.send("POST", path, {"choices": request.POST.getlist("choice")}).body
        if not self.is_partial:
            return self.go_back(f"/statuses/{status_id.public}")
        return self.draw("parts/poll.html", {"poll": poll})


class StatusAct(WebPage):
    """Favourites, reposts, bookmarks, pins or mutes a post or reacts to it, or ends it."""

    needs_viewer = True

    def post(
        self, request: HttpRequest, status_id: PostId, act: str, reaction: str = ""
    ) -> HttpResponseBase:
        """`reaction`: the name of a declared one; its acts are `react` and `unreact`."""
        if not reaction and act not in ACTS:
            raise Http404
        whole = f"{act}/{reaction}" if reaction else act
        status = self.api.send("POST", f"/api/v1/statuses/{status_id.public}/{whole}").body
        if not self.is_partial:
            return self.go_back(f"/statuses/{status_id.public}")
        # Of a repost the API answers the repost; the page shows the post in it.
        shown: dict[str, Any] = status.get("reblog") or status
        context = {"status": shown, "promoted": "promoted" in request.POST}
        return self.draw("parts/status.html", context)


class DeleteStatus(WebPage):
    """Asks, then deletes a post of the viewer."""

    needs_viewer = True

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        status = self.api.get(f"/api/v1/statuses/{status_id.public}").body
        if status["account"]["id"] != self.signed_in["id"] or status["reblog"]:
            raise Http404
        return self.draw("delete_status.html", {"status": status})

    def post(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        """A post that is gone already is what the person wanted."""
        self.api.send("DELETE", f"/api/v1/statuses/{status_id.public}", {"delete_media": True})
        return HttpResponse() if self.is_partial else HttpResponseRedirect("/", status=303)
