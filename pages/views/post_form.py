"""The form of a post: how pages draw it, read it, and answer what the API refuses."""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpResponse, QueryDict

from pages.api_client import ApiRefused
from pages.composer import (
    MEDIA,
    NOT_FOUND,
    Composer,
    kept_ids,
    read_text,
    read_warning,
    typed_composer,
)
from pages.views.base import UNAUTHORIZED, WebPage

STATUSES = "/api/v1/statuses"
NOT_UPLOADED = "“Attach” sends the chosen photos. Choose them once more."


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


def read_content(sent: QueryDict) -> dict[str, Any]:
    """What a new post and an edit have in common, as the API wants it."""
    return {
        "status": read_text(sent),
        "spoiler_text": read_warning(sent),
        "language": sent.get("language", ""),
        "sensitive": "sensitive" in sent or bool(read_warning(sent)),
        "media_ids": kept_ids(sent),
        "quote_approval_policy": sent.get("quote_approval_policy", ""),
        "reply_approval_policy": sent.get("reply_approval_policy", ""),
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
