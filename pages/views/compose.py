"""Writing a post: the form, its images, and what happens if the API refuses."""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.composer import (
    MEDIA,
    NOT_FOUND,
    Composer,
    edit_composer,
    kept_ids,
    new_composer,
    read_warning,
    reply_composer,
    typed_composer,
)
from pages.site import site_limits
from pages.views.base import UNAUTHORIZED, WebPage
from posts.ids import PostId

STATUSES = "/api/v1/statuses"
NOT_UPLOADED = "“Attach” sends the chosen photos. Choose them once more."
TOO_MANY = "A post has at most {} photos."
# A script of the page asks for the new post when it gets this event.
POSTED = "posted"


class PostFormPage(WebPage):
    """A page that draws the form of a post on a page of its own."""

    needs_viewer = True

    def draw_form(self, composer: Composer, status: int = 200) -> HttpResponse:
        return self.draw("compose.html", {"composer": composer}, status)

    def answer_typed(self, write: Callable[[QueryDict], Any]) -> HttpResponse | None:
        """Writes what was sent. If that is refused: the form with it, and the reason.

        A script keeps the form on the page, so it only needs the reason.
        """
        sent = self.request.POST
        try:
            if sent.get("image"):
                raise ApiRefused(422, NOT_UPLOADED, {})
            write(sent)
        except ApiRefused as refusal:
            if self.is_partial:
                raise
            return self.draw_typed(kept_ids(sent), refusal)
        return None

    def draw_typed(self, ids: Sequence[str], refusal: ApiRefused | None) -> HttpResponse:
        """The form with what was typed, and why it was refused. If what the form shows is refused
        too, a page that asks the API for nothing: the text can be copied, or sent once more."""
        if refusal and refusal.status == UNAUTHORIZED:
            return self._draw_kept(refusal)
        message, status = (refusal.message, refusal.status) if refusal else ("", 200)
        try:
            typed = typed_composer(self, self.request.POST, ids, message)
            return self.draw_form(typed, status)
        except ApiRefused as another:
            return self._draw_kept(another)

    def _draw_kept(self, refusal: ApiRefused) -> HttpResponse:
        sent = self.request.POST
        context = {
            "text": sent.get("status", ""),
            "fields": [(name, value) for name, values in sent.lists() for value in values],
            "refusal": refusal,
            "has_ended": refusal.status == UNAUTHORIZED,
        }
        return self.draw_refused("kept_text.html", context, refusal)


class ComposePage(PostFormPage):
    """An empty form. Other sites can lead here with a text."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw_form(new_composer(self, text=request.GET.get("text", "")))


class NewStatus(PostFormPage):
    """Publishes what was typed. The same form sent twice publishes once."""

    def post(self, request: HttpRequest) -> HttpResponseBase:
        refused = self.answer_typed(self._publish)
        if refused is not None:
            return refused
        if not self.is_partial:
            return self.go_back("/")
        return self._draw_empty_form()

    def _publish(self, sent: QueryDict) -> None:
        describe_images(self, sent)
        data = {
            **read_content(sent),
            "visibility": sent.get("visibility", ""),
            "in_reply_to_id": sent.get("in_reply_to_id") or None,
            "poll": read_poll(sent),
        }
        self.status = self.api.send("POST", STATUSES, data, sent.get("key", "")).body

    def _draw_empty_form(self) -> HttpResponse:
        """For a script: a form with a new key. A reply is shown below its form."""
        sent, context = self.request.POST, {}
        if parent_id := sent.get("in_reply_to_id"):
            parent = self.api.get(f"{STATUSES}/{parent_id}").body
            composer = reply_composer(self, parent, sent.get("place", ""))
            context = {"status": self.status}
        else:
            composer = new_composer(self, sent.get("place", ""))
        answer = self.draw("parts/posted.html", {"composer": composer, **context})
        answer["HX-Trigger"] = POSTED
        return answer


class EditStatus(PostFormPage):
    """Changes the text, the warning and the images of an own post."""

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        status = self.api.get(f"{STATUSES}/{status_id.public}").body
        if status["account"]["id"] != self.signed_in["id"]:
            raise Http404
        return self.draw_form(edit_composer(self, status))

    def post(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        path = f"{STATUSES}/{status_id.public}"

        def edit(sent: QueryDict) -> None:
            describe_images(self, sent)
            self.api.send("PUT", path, read_content(sent))

        return self.answer_typed(edit) or self.go_back(f"/statuses/{status_id.public}")


class ComposeImages(PostFormPage):
    """Uploads the chosen images, and draws the form with them. A script needs only their part."""

    def post(self, request: HttpRequest) -> HttpResponseBase:
        ids = kept_ids(request.POST)
        refusal = self._upload(ids)
        if not self.is_partial:
            return self.draw_typed(ids, refusal)
        composer = typed_composer(self, request.POST, ids, refusal.message if refusal else "")
        return self.draw("parts/compose_images.html", {"composer": composer})

    def _upload(self, ids: list[str]) -> ApiRefused | None:
        """Adds the ids of the images that were sent. Returns why one was refused."""
        files = self.request.FILES.getlist("image")
        try:
            most = site_limits(self.api)["statuses"]["max_media_attachments"]
            if len(ids) + len(files) > most:
                raise ApiRefused(422, TOO_MANY.format(most), {})
            for file in files:
                uploaded = self.api.upload("/api/v2/media", "file", file.read())
                ids.append(uploaded.body["id"])
        except ApiRefused as refusal:
            return refusal
        return None


def read_content(sent: QueryDict) -> dict[str, Any]:
    """What a new post and an edit have in common, as the API wants it."""
    return {
        "status": sent.get("status", ""),
        "spoiler_text": read_warning(sent),
        "language": sent.get("language", ""),
        "sensitive": "sensitive" in sent or bool(read_warning(sent)),
        "media_ids": kept_ids(sent),
    }


def read_poll(sent: QueryDict) -> dict[str, Any] | None:
    """The poll, if its fields were shown. Options without a text are not sent."""
    if "with_poll" not in sent:
        return None
    return {
        "options": [option for option in sent.getlist("option") if option.strip()],
        "expires_in": sent.get("expires_in", ""),
        "multiple": "multiple" in sent,
        "hide_totals": "hide_totals" in sent,
    }


def describe_images(page: WebPage, sent: QueryDict) -> None:
    """Sends the descriptions. An image that a post has already keeps the one it has."""
    for image_id in kept_ids(sent):
        text = sent.get(f"description_{image_id}")
        if text is None:
            continue
        try:
            page.api.send("PUT", f"{MEDIA}/{image_id}", {"description": text})
        except ApiRefused as refusal:
            if refusal.status != NOT_FOUND:
                raise
