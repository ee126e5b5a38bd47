"""The content of the form of a post: limits, defaults, and what was typed if the API refused it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.http import Http404, QueryDict

from pages.api_client import ApiClient, ApiRefused
from pages.site import Entity, Languages, site_languages, site_limits
from pages.texts import Choices
from pages.texts import later as _
from pages.views.base import WebPage

MEDIA = "/api/v1/media"
NOT_FOUND = 404
# Who can read a post, by the word of the API: from all to the fewest.
READERS = Choices({
    "public": _("Everyone"),
    "unlisted": _("Everyone, not in public lists"),
    "private": _("Followers"),
    "direct": _("Direct message"),
})  # fmt: skip
# Who can quote it, by the word of the API.
QUOTERS = Choices({
    "public": _("Everyone"),
    "followers": _("Followers"),
    "nobody": _("Only me"),
})  # fmt: skip
# Who can reply to it, besides the people it mentions.
REPLIERS = Choices({
    "public": _("Everyone"),
    "followers": _("Followers"),
    "following": _("People I follow"),
    "mentioned": _("Only people I mention"),
    "nobody": _("Only me"),
})  # fmt: skip
VISIBILITIES = tuple(READERS)
POLL_ENDS = Choices({
    "300": _("5 minutes"), "1800": _("30 minutes"), "3600": _("1 hour"), "21600": _("6 hours"),
    "86400": _("1 day"), "259200": _("3 days"), "604800": _("7 days"),
})  # fmt: skip
A_DAY = "86400"


@dataclass(frozen=True, kw_only=True)
class Composer:
    """`place`: where a script shows the new post; without one the whole page is loaded again.

    `edited`: the post that is edited. `parent`: the post that is answered. `quoted`: the post that
    is quoted. `images`: attachments.
    `to`: who gets a first message; None for all else. `talk`: the conversation of a message, and
    `names` the @names of its people, which the text need not have.
    `options`: one text for each place of a poll. `scheduled_at`: when to publish it, as a field of
    a form has it. `message`: why the API refused.
    """

    limits: Entity
    languages: Languages
    key: str = ""
    place: str = ""
    edited: Entity | None = None
    parent: Entity | None = None
    quoted: Entity | None = None
    to: str | None = None
    talk: str = ""
    names: str = ""
    text: str = ""
    spoiler_text: str = ""
    visibility: str = ""
    quote_policy: str = ""
    reply_policy: str = "public"
    language: str = ""
    sensitive: bool = False
    images: Sequence[Entity] = ()
    with_poll: bool = False
    options: Sequence[str] = ()
    expires_in: str = A_DAY
    multiple: bool = False
    hide_totals: bool = False
    with_schedule: bool = False
    scheduled_at: str = ""
    message: str = ""

    poll_ends = property(lambda _: POLL_ENDS.written())
    readers = property(lambda _: READERS.written())
    quoters = property(lambda _: QUOTERS.written())
    repliers = property(lambda _: REPLIERS.written())

    @property
    def action(self) -> str:
        if self.to is not None:
            return "/conversations/new"
        return f"/statuses/{self.edited['id']}/edit" if self.edited else "/statuses"

    @property
    def is_message(self) -> bool:
        return bool(self.talk) or self.to is not None

    @property
    def can_wait(self) -> bool:
        """Whether it may be published later."""
        return not (self.edited or self.is_message)

    @property
    def is_limited(self) -> bool:
        """Whether not all may quote it and reply."""
        return not self.quote_policy == self.reply_policy == "public"

    @property
    def draft(self) -> str:
        """What the browser keeps the text under until it is sent. What one began to write to Ann is
        not offered, with her name, on the page of a message to Bob."""
        if self.is_message:
            return f"message-{self.talk or self.to}"
        if self.quoted:
            return f"quote-{self.quoted['id']}"
        return f"reply-{self.parent['id']}" if self.parent else "new"

    @property
    def most_characters(self) -> int:
        """How many the text may have."""
        most: int = self.limits["statuses"]["max_characters"]
        return most - (len(self.names) + 1 if self.names else 0)


def new_composer(page: WebPage, place: str = "", **typed: Any) -> Composer:
    """An empty form with the defaults of the viewer. No request to the API, except once a process:
    see pages.site."""
    source, limits = page.signed_in["source"], site_limits(page.api)
    defaults = {
        "key": uuid4().hex,
        "visibility": source["privacy"],
        "quote_policy": source["quote_policy"],
        "language": source["language"] or "",
        "sensitive": source["sensitive"],
        "options": [""] * limits["polls"]["max_options"],
    }
    languages = site_languages(page.api)
    return Composer(limits=limits, languages=languages, place=place, **(defaults | typed))


def reply_composer(page: WebPage, parent: Entity, place: str = "") -> Composer:
    """A form that mentions the people of the post, and is for no more readers than it."""
    people = [parent["account"]["acct"], *(account["acct"] for account in parent["mentions"])]
    others = dict.fromkeys(address for address in people if address != page.signed_in["acct"])
    closest = max(page.signed_in["source"]["privacy"], parent["visibility"], key=VISIBILITIES.index)
    return new_composer(
        page,
        place,
        parent=parent,
        text="".join(f"@{address} " for address in others),
        spoiler_text=parent["spoiler_text"],
        visibility=closest,
    )


def quote_composer(page: WebPage, quoted: Entity) -> Composer:
    """A form for a post that quotes another one, and that is for no more readers than it if it is
    private."""
    closest = "private" if quoted["visibility"] == "private" else "public"
    visibility = max(page.signed_in["source"]["privacy"], closest, key=VISIBILITIES.index)
    return new_composer(page, quoted=quoted, visibility=visibility)


def message_composer(
    page: WebPage, talk: str, latest: Entity, people: Sequence[Entity]
) -> Composer:
    """A form for the next message of a conversation, after its latest."""
    names = " ".join(f"@{account['acct']}" for account in people)
    return new_composer(page, "talk", talk=talk, parent=latest, names=names)


def edit_composer(page: WebPage, status: Entity) -> Composer:
    """A form with the post as its author typed it. One request to the API."""
    source = page.api.get(f"/api/v1/statuses/{status['id']}/source").body
    return new_composer(
        page,
        edited=status,
        text=source["text"],
        spoiler_text=source["spoiler_text"],
        sensitive=status["sensitive"],
        language=status["language"] or "",
        quote_policy=policy_of(status, "quote_approval"),
        reply_policy=policy_of(status, "reply_approval"),
        images=[image | {"is_attached": True} for image in status["media_attachments"]],
    )


def policy_of(status: Entity, approval: str) -> str:
    """Which accounts can quote a post, or reply to it."""
    return str((status[approval]["automatic"] or ["nobody"])[0])


def typed_composer(page: WebPage, sent: QueryDict, ids: Sequence[str], message: str) -> Composer:
    """The form as it was sent, with these images."""
    edited, parent, quoted = (
        _find_status(page.api, sent.get(name, ""))
        for name in ("edited", "in_reply_to_id", "quoted_status_id")
    )
    options = sent.getlist("option")
    return new_composer(
        page,
        sent.get("place", ""),
        key=sent.get("key", ""),
        edited=edited,
        parent=parent,
        quoted=quoted,
        to=sent.get("to"),
        talk=sent.get("talk", ""),
        names=sent.get("names", ""),
        text=sent.get("status", ""),
        spoiler_text=read_warning(sent),
        visibility=sent.get("visibility", ""),
        quote_policy=sent.get("quote_approval_policy", ""),
        reply_policy=sent.get("reply_approval_policy", ""),
        language=sent.get("language", ""),
        images=list(_find_images(page.api, sent, ids, edited)),
        with_poll="with_poll" in sent,
        **({"options": options} if options else {}),
        # The form asks for it when it has images.
        **({"sensitive": "sensitive" in sent} if "media_ids" in sent else {}),
        expires_in=sent.get("expires_in", A_DAY),
        multiple="multiple" in sent,
        hide_totals="hide_totals" in sent,
        with_schedule="with_schedule" in sent,
        scheduled_at=sent.get("scheduled_at", ""),
        message=message,
    )


def read_warning(sent: QueryDict) -> str:
    """The warning, if its field was shown."""
    return sent.get("spoiler_text", "") if "with_warning" in sent else ""


def kept_ids(sent: QueryDict) -> list[str]:
    """The ids of the images that the form has and that are not to be removed, in their order.

    `forward`: the image that changes its place with the one before it.
    """
    removed, moved = sent.getlist("without"), sent.get("forward")
    ids = [image_id for image_id in sent.getlist("media_ids") if image_id not in removed]
    if moved in ids[1:]:
        at = ids.index(moved)
        ids[at - 1 : at + 1] = [ids[at], ids[at - 1]]
    return ids


def read_text(sent: QueryDict) -> str:
    """The text. That of a message begins with the names of its people, if it lacks them."""
    text = sent.get("status", "")
    if not text.strip() and not kept_ids(sent):
        return text
    present = {word.lower().rstrip(",.:;!?") for word in text.split()}
    missing = [name for name in sent.get("names", "").split() if name.lower() not in present]
    return " ".join([*missing, text])


def _find_status(api: ApiClient, status_id: str) -> Entity | None:
    return _find(api, "/api/v1/statuses", status_id) if status_id else None


def _find_images(
    api: ApiClient, sent: QueryDict, ids: Sequence[str], edited: Entity | None
) -> Sequence[Entity]:
    """The images that are still there, with the descriptions as they were typed."""
    attached = {image["id"]: image for image in edited["media_attachments"]} if edited else {}
    images = []
    for image_id in ids:
        if image_id in attached:
            images.append(attached[image_id] | {"is_attached": True})
        elif image := _find(api, MEDIA, image_id):
            typed = sent.get(f"description_{image_id}", image["description"])
            images.append(image | {"description": typed})
    return images


def _find(api: ApiClient, path: str, entity_id: str) -> dict[str, Any] | None:
    """None if it is gone, or never was: what was typed must not be lost because of it."""
    try:
        entity: dict[str, Any] = api.get(f"{path}/{quote(entity_id, safe='')}").body
    except Http404:
        return None
    except ApiRefused as refusal:
        if refusal.status != NOT_FOUND:
            raise
        return None
    return entity
