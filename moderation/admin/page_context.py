"""What the pages of a report and of a user show, in the words of their templates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from accounts.default_avatar import avatar_address
from accounts.images.file_names import url_of_file
from accounts.images.queries.image_lists import ListedImage
from accounts.images.types import Attachment
from accounts.site_texts.queries import get_site_description
from accounts.texts.html import profile_url
from accounts.types import Profile, Restriction
from infra.admin.display import chips
from moderation.forms import LASTS, USUAL_DAYS
from moderation.models import Report
from moderation.queries.accounts import AccountFacts, AccountLine
from moderation.queries.decisions import Ends, load_ends
from moderation.types import ACCOUNT_DECISIONS
from posts.fragments.present import post_url
from posts.ids import PostId
from posts.queries.moderated import ModeratedPost, PostText
from posts.types import Kind

DECIDE = "moderation.add_decision"


class ShownImage(NamedTuple):
    """An image of a post. `address`: empty if its files were removed."""

    address: str
    preview: str
    description: str
    is_hidden: bool


class ShownVersion(NamedTuple):
    """A version of a post. `written_at`: of the first version when it was posted."""

    written_at: datetime
    warning: str
    text: str
    images: Sequence[ShownImage]


class ShownPost(NamedTuple):
    """A post. `about`: its visibility, and the post that it answers. `now`: None if it is deleted
    or never existed; `before`: its earlier versions, newest first.
    """

    id: str
    url: str
    decisions: str
    posted_at: datetime
    about: str
    state: str
    is_hidden: bool
    options: Sequence[str]
    now: ShownVersion | None
    before: Sequence[ShownVersion]


def post_contexts(facts: AccountFacts, post_ids: Iterable[PostId]) -> Iterator[ShownPost]:
    """The posts in this order, with images and versions. No query."""
    for post_id in post_ids:
        yield _show(post_id, facts.posts.get(post_id), facts.images)


def account_context(
    request: HttpRequest, facts: AccountFacts, username: str | None, restrictions: int
) -> dict[str, Any]:
    """What the template of an account needs besides its history. Cost: as get_site_description."""
    ends = load_ends([facts.account_id]).get(facts.account_id, {})
    profile = facts.line.profile if facts.line else None
    is_gone = Restriction.SUSPENDED in Restriction(restrictions)  # so are its pictures
    return {
        "facts": facts,
        "account_name": username,
        "account_url": profile_url(username) if username else "",
        "restrictions": chips(_with_ends(Restriction(restrictions), ends), "warn"),
        "avatar": picture_of(profile) if profile and not is_gone else "",
        "lasts": LASTS,
        "usual_days": USUAL_DAYS,
        "can_decide": request.user.has_perm(DECIDE),
        "account_decisions": ACCOUNT_DECISIONS,
        "reasons": get_site_description().reasons,
    }


def restriction_words(restrictions: Restriction, ends: Ends) -> str:
    """The restrictions with their ends: "limited until 2026-12-03 12:00 UTC, frozen", or "none"."""
    return ", ".join(_with_ends(restrictions, ends)) or restrictions.words


def _with_ends(restrictions: Restriction, ends: Ends) -> list[str]:
    return [_with_end(ends, restriction) for restriction in restrictions]


def _with_end(ends: Ends, restriction: Restriction) -> str:
    end = ends.get(restriction)
    return f"{restriction.words} until {end:%Y-%m-%d %H:%M} UTC" if end else restriction.words


def account_link(account_id: int, username: str | None) -> str:
    """The account's name, as a link to its page in the admin; its id if its user was deleted."""
    if username is None:
        return f"deleted account {account_id}"
    where = reverse("admin:accounts_user_change", args=[account_id])
    return format_html('<a href="{}">@{}</a>', where, username)


def account_cell(account_id: int, username: str | None, line: AccountLine | None) -> str:
    """As account_link, after the account's picture if its shard answered."""
    link = account_link(account_id, username)
    if line is None or line.profile is None:
        return link
    return format_html('<span class="who">{}{}</span>', face_of(line.profile), link)


def picture_of(profile: Profile) -> str:
    """The address of an account's picture: a path if it is on this site, as for all that the pages
    of the admin load."""
    return avatar_address(profile).removeprefix(settings.PUBLIC_URL)


def face_of(profile: Profile) -> str:
    """The picture of an account. The name is next to it."""
    address = picture_of(profile)
    return format_html('<img src="{}" alt="" width="32" height="32" loading="lazy">', address)


def restriction_chips(restrictions: int) -> str:
    """Empty for none."""
    return chips((restriction.words for restriction in Restriction(restrictions)), "warn")


def page_before(request: HttpRequest) -> str:
    """The page of a report or user whose form was sent; empty for other pages of the admin."""
    model, _, pk = request.POST.get("sent_from", "").partition("-")
    if model not in _PAGES or not pk.isascii() or not pk.isdigit():
        return ""
    return reverse(_PAGES[model], args=[pk])


def report_before(request: HttpRequest) -> Report | None:
    """The report whose page sent the form, as it is now. One query by key."""
    model, _, pk = request.POST.get("sent_from", "").partition("-")
    return (
        Report.objects.filter(pk=pk).first() if model == "report" and page_before(request) else None
    )


PAGE_OF_REPORT, PAGE_OF_USER = "admin:moderation_report_change", "admin:accounts_user_change"
_PAGES = {"report": PAGE_OF_REPORT, "user": PAGE_OF_USER}


def _show(
    post_id: PostId, post: ModeratedPost | None, images: Mapping[int, ListedImage]
) -> ShownPost:
    versions = _versions(post_id, post, images) if post and post.deleted_at is None else []
    return ShownPost(
        post_id.public,
        post_url(post_id),
        f"{reverse('admin:moderation_decision_changelist')}?{urlencode({'q': post_id.public})}",
        _posted_at(post_id),
        _about(post) if post else "",
        state_of(post),
        post is not None and post.hidden_at is not None,
        post.options if post else (),
        versions[0] if versions else None,
        versions[1:],
    )


def _versions(
    post_id: PostId, post: ModeratedPost, images: Mapping[int, ListedImage]
) -> list[ShownVersion]:
    return [_version(post_id, version, images) for version in post.versions]


def _version(post_id: PostId, version: PostText, images: Mapping[int, ListedImage]) -> ShownVersion:
    written_at = version.edited_at or _posted_at(post_id)
    shown = [_image(image, images.get(image.id)) for image in version.images]
    return ShownVersion(written_at, version.spoiler_text, version.text, shown)


def _image(attached: Attachment, stored: ListedImage | None) -> ShownImage:
    """The stored image knows the address of a hidden one; the post does not."""
    if stored is None:
        return ShownImage("", "", attached.description, attached.is_hidden)
    names = (url_of_file(stored.names.original), url_of_file(stored.names.small))
    return ShownImage(*names, stored.description, stored.hidden_at is not None)


def _posted_at(post_id: PostId) -> datetime:
    return datetime.fromtimestamp(post_id.posted_at_s, UTC)


def _about(post: ModeratedPost) -> str:
    target = f", {_KINDS[post.kind]}" if post.target else ""
    return f"{post.visibility.name.lower()}{target}"


_KINDS = {Kind.REPLY: "a reply", Kind.REPOST: "a repost"}


def state_of(post: ModeratedPost | None) -> str:
    """Whether a post is shown, in words: "hidden since …"."""
    if post is None:
        return "there is no such post"
    if post.deleted_at is not None:
        return f"deleted since {post.deleted_at:%Y-%m-%d %H:%M:%S} UTC: its text is gone"
    if post.hidden_at is not None:
        return f"hidden since {post.hidden_at:%Y-%m-%d %H:%M:%S} UTC"
    return "shown"
