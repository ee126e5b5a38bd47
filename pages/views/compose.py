"""Writing a post: a new one, its images and suggestions, and the change of one."""

import json
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext

from infra.languages import page_language
from pages.api_client import ApiRefused
from pages.appearance import page_zone
from pages.composer import (
    edit_composer,
    kept_ids,
    message_composer,
    new_composer,
    quote_composer,
    reply_composer,
    typed_composer,
)
from pages.schedule import read_schedule
from pages.site import Entity, site_limits
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.post_form import (
    STATUSES,
    PostFormPage,
    describe_images,
    read_content,
    read_poll,
)
from pages.writing import writing_of
from posts.ids import PostId

MOST_SUGGESTED = 5
TOO_MANY = "A post has at most {} photos."
REPLIED = _("Reply posted.")
# What is said about a new post, by who can read it.
WHERE = {
    "public": _("Posted."),
    "unlisted": _("Posted. It is not in public lists."),
    "private": _("Posted for your followers."),
}
# A script of the page asks for the new post when it gets this event.
POSTED, TOLD = "posted", "told"


class ComposePage(PostFormPage):
    """An empty form. Other sites can lead here with a text. `?quote=`: a post that it quotes."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        if quoted_id := request.GET.get("quote"):
            status = self.api.get(f"{STATUSES}/{quote(quoted_id, safe='')}").body
            return self.draw_form(quote_composer(self, status.get("reblog") or status))
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
            "quoted_status_id": sent.get("quoted_status_id") or None,
            "poll": read_poll(sent),
            "scheduled_at": read_schedule(sent),
        }
        self.status = self.api.send("POST", STATUSES, data, sent.get("key", "")).body

    def _draw_empty_form(self) -> HttpResponse:
        """For a script: a form with a new key, and where the post went. A reply is shown below its
        form, a message at the end of its conversation; a scheduled post is shown nowhere yet."""
        sent, template = self.request.POST, "parts/posted.html"
        context: dict[str, Any] = {} if self.is_scheduled else {"status": self.status}
        place = sent.get("place", "")
        if (talk := sent.get("talk")) and context:
            people = [mention for mention in self.status["mentions"] if not self._is_own(mention)]
            composer = message_composer(self, talk, self.status, people)
            template, context["before"] = "parts/sent_message.html", _read_before(sent)
        elif parent_id := sent.get("in_reply_to_id"):
            parent = self.api.get(f"{STATUSES}/{parent_id}").body
            composer, context["parent"] = reply_composer(self, parent, place), parent
        else:
            composer, context = new_composer(self, place), {}
        answer = self.draw(template, {"composer": composer, **context})
        is_message = template == "parts/sent_message.html"
        # A message is in view. The list of conversations reads its row again.
        events = {TOLD: None} if is_message else {POSTED: self._confirmation()}
        answer["HX-Trigger"] = json.dumps(events)
        return answer

    def _is_own(self, mention: Entity) -> bool:
        return bool(mention["id"] == self.signed_in["id"])

    def _confirmation(self) -> dict[str, str]:
        """What the page says about the new post, with its address."""
        status = self.status
        if self.is_scheduled:
            when = writing_of(page_language()).moment(status["scheduled_at"])
            text = gettext("Scheduled for %(moment)s.") % {"moment": when}
            return {"text": text, "href": "/scheduled"}
        return {"text": self._where(status), "href": f"/statuses/{status['id']}"}

    def _where(self, status: Entity) -> str:
        """Who can read the new post, in words."""
        if status["visibility"] != "direct":
            is_reply = status["in_reply_to_id"]
            return str(REPLIED if is_reply else WHERE.get(status["visibility"], ""))
        others = [mention for mention in status["mentions"] if not self._is_own(mention)]
        names = ", ".join(f"@{account['acct']}" for account in others)
        if not names:
            return gettext("Saved for yourself.")
        return gettext("Sent to %(names)s.") % {"names": names}


def _read_before(sent: QueryDict) -> Entity | None:
    """The message that was the latest when the form was drawn, as far as its place needs it."""
    author_id, _space, created_at = sent.get("before", "").partition(" ")
    try:
        datetime.fromisoformat(created_at).astimezone(page_zone())
    except (ValueError, OverflowError):
        return None
    return {"account": {"id": author_id}, "created_at": created_at}


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
    shows_unread = False

    def get(self, request: HttpRequest) -> HttpResponseBase:
        asked = request.GET.get("q", "")
        kind = {"@": "accounts", "#": "hashtags", "\uff03": "hashtags"}.get(asked[:1])
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
