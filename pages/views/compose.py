"""Writing a post: the form, its images, and what happens if the API refuses."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.composer import (
    MEDIA,
    NOT_FOUND,
    Composer,
    edit_composer,
    kept_ids,
    message_composer,
    new_composer,
    read_text,
    read_warning,
    reply_composer,
    typed_composer,
)
from pages.schedule import read_schedule
from pages.site import Entity, site_limits
from pages.template_filters import moment
from pages.views.base import UNAUTHORIZED, WebPage
from posts.ids import PostId

STATUSES = "/api/v1/statuses"
MOST_SUGGESTED = 5
NOT_UPLOADED = "“Attach” sends the chosen photos. Choose them once more."
TOO_MANY = "A post has at most {} photos."
# What is said about a new post, by who can read it.
WHERE = {
    "public": "Posted.",
    "unlisted": "Posted. It is not in public lists.",
    "private": "Posted for your followers.",
}
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


class NewMessage(PostFormPage):
    """The first message to some people. `?to=`: their names."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw_form(new_composer(self, to=_at(request.GET.get("to", ""))))

    def post(self, request: HttpRequest) -> HttpResponseBase:
        return self.answer_typed(self._send) or self.go_back(f"/conversations/{self.status['id']}")

    def draw_form(self, composer: Composer, status: int = 200) -> HttpResponse:
        return self.draw("conversation_new.html", {"composer": composer}, status)

    def _send(self, sent: QueryDict) -> None:
        """Raises: ApiRefused, also if a name is of no account: the message would go to none."""
        names = [_at(name) for name in re.split(r"[\s,]+", sent.get("to", "")) if name]
        for name in names:
            self._require_account(name)
        if not names:
            raise ApiRefused(422, "Say who gets the message", {})
        addressed = sent.copy()
        addressed["names"] = " ".join(names)
        describe_images(self, sent)
        data = {**read_content(addressed), "visibility": "direct", "poll": read_poll(sent)}
        self.status = self.api.send("POST", STATUSES, data, sent.get("key", "")).body

    def _require_account(self, name: str) -> None:
        try:
            self.api.get("/api/v1/accounts/lookup", {"acct": name[1:]})
        except ApiRefused as refusal:
            if refusal.status != NOT_FOUND:
                raise
            raise ApiRefused(422, f"There is no account {name}", {}) from None


class ComposePage(PostFormPage):
    """An empty form. Other sites can lead here with a text."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw_form(new_composer(self, text=request.GET.get("text", "")))


class NewStatus(PostFormPage):
    """Publishes what was typed, or keeps it until its time. The same form sent twice does so once.

    `status`: the answer of the API, a Status or a ScheduledStatus.
    """

    @property
    def is_scheduled(self) -> bool:
        return "scheduled_at" in self.status

    def post(self, request: HttpRequest) -> HttpResponseBase:
        refused = self.answer_typed(self._publish)
        if refused is not None:
            return refused
        if self.is_partial:
            return self._draw_empty_form()
        if self.is_scheduled:
            return HttpResponseRedirect(f"/scheduled?saved={self.status['id']}", status=303)
        answer = self.go_back("/")
        page, _, query = answer["Location"].partition("?")
        if page == "/" and not request.POST.get("in_reply_to_id"):
            answer["Location"] = f"/?{query}&" if query else "/?"
            answer["Location"] += f"sent={self.status['id']}"
        return answer

    def _publish(self, sent: QueryDict) -> None:
        describe_images(self, sent)
        data = {
            **read_content(sent),
            "visibility": sent.get("visibility", ""),
            "in_reply_to_id": sent.get("in_reply_to_id") or None,
            "poll": read_poll(sent),
            "scheduled_at": read_schedule(sent),
        }
        self.status = self.api.send("POST", STATUSES, data, sent.get("key", "")).body

    def _draw_empty_form(self) -> HttpResponse:
        """For a script: a form with a new key, and where the post went. A reply is shown below its
        form, a message at the end of its conversation; a scheduled post is shown nowhere yet."""
        sent, template = self.request.POST, "parts/posted.html"
        context = {} if self.is_scheduled else {"status": self.status}
        place = sent.get("place", "")
        if (talk := sent.get("talk")) and context:
            people = [mention for mention in self.status["mentions"] if not self._is_own(mention)]
            composer = message_composer(self, talk, self.status, people)
            template = "parts/sent_message.html"
        elif parent_id := sent.get("in_reply_to_id"):
            composer = reply_composer(self, self.api.get(f"{STATUSES}/{parent_id}").body, place)
        else:
            composer, context = new_composer(self, place), {}
        answer = self.draw(template, {"composer": composer, **context})
        answer["HX-Trigger"] = json.dumps({POSTED: self._confirmation()})
        return answer

    def _is_own(self, mention: Entity) -> bool:
        return bool(mention["id"] == self.signed_in["id"])

    def _confirmation(self) -> dict[str, str]:
        """What the page says about the new post, with its address."""
        status = self.status
        if self.is_scheduled:
            when = moment(status["scheduled_at"])
            return {"text": f"Scheduled for {when}.", "href": "/scheduled"}
        text = "Reply posted." if status["in_reply_to_id"] else WHERE.get(status["visibility"], "")
        if status["visibility"] == "direct":
            others = [mention for mention in status["mentions"] if not self._is_own(mention)]
            names = [f"@{account['acct']}" for account in others]
            text = f"Sent to {', '.join(names)}." if names else "Saved for yourself."
        return {"text": text, "href": f"/statuses/{status['id']}"}


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


class ComposeSuggestions(WebPage):
    """People whose names begin so, or tags: what a script offers while one types."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        asked = request.GET.get("q", "")
        kind = {"@": "accounts", "#": "hashtags"}.get(asked[:1])
        if kind is None or not asked[1:]:
            return HttpResponse(status=204)
        query = {"q": asked[1:], "type": kind, "limit": MOST_SUGGESTED}
        results = self.api.get("/api/v2/search", query).body
        context = {"accounts": results["accounts"], "tags": results["hashtags"]}
        return self.draw("parts/suggestions.html", context)


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
        "status": read_text(sent),
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


def _at(name: str) -> str:
    """As people write names: @ann."""
    return f"@{name.removeprefix('@')}" if name else ""
