"""How pages show icons, choices, the HTML of the API, and filtered posts.

Times and counts are in writing.py.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.templatetags.static import static
from django.utils.html import format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from accounts.queries.object_kinds import find_word_for_kind
from accounts.scopes import DESCRIPTIONS
from infra.languages import page_language
from pages.appearance import page_zone
from pages.texts import later as _
from pages.views.base import WebPage

_MOST_OPTIONS = 256
WEEK = 7
SOON_S = 300
# As accounts/texts writes mentions.
NAMES_BEFORE = re.compile(
    r"^<p>(?:<span class=\"h-card\"[^>]*><a [^>]*>@<span>\w+</span></a></span>\s*)+"
)
_UNSEEN_QUOTES = {
    "deleted": _("The quoted post is deleted."),
    "revoked": _("The author of the quoted post took it out."),
    "blocked_account": _("The quoted post is of an account that you block."),
    "muted_account": _("The quoted post is of an account that you mute."),
}
Entity = Mapping[str, Any]


class FilterEffect(NamedTuple):
    """`title`: of the filter that collapses the post; empty if none does. `hides`: lists leave the
    post out. `covers`: its images wait for a click.
    """

    title: str = ""
    hides: bool = False
    covers: bool = False


NO_EFFECT = FilterEffect()


@cache
def icon(name: str) -> SafeString:
    """One of static/pages/phosphor/icons.svg. A page has hundreds: as many templates are slow."""
    text = '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>'
    return format_html(text, static("pages/phosphor/icons.svg"), name)


@lru_cache(_MOST_OPTIONS)
def options(names: tuple[tuple[str, str], ...], chosen: str) -> SafeString:
    """The options of a choice: values with names. Kept, because there are ninety languages."""
    selected = mark_safe(" selected")  # nosec B308
    option = '<option value="{}"{}>{}</option>'
    rows = ((value, selected if value == chosen else "", name) for value, name in names)
    return format_html_join("", option, rows)


def trusted(html: str) -> SafeString:
    """HTML that the API made: it has escaped what people typed.

    Each paragraph has the direction of its own words; @names and addresses do not decide about it.
    """
    directed = html.replace("<p>", '<p dir="auto">')
    directed = directed.replace(' translate="no"', ' translate="no" dir="ltr"')
    return SafeString(directed)  # nosec B703


def translated(english: str) -> str:
    """A text that a table of the code has."""
    return gettext(english)


def rights(scope: str) -> str:
    """What an app with these scopes may do, in words."""
    return ", ".join(gettext(DESCRIPTIONS[name]) for name in scope.split() if name in DESCRIPTIONS)


def kind_word(owned: Entity) -> str:
    """What an object of a service is, in the language of the page: "Recipe"."""
    return find_word_for_kind(owned["kind"], page_language())


def without_names(html: str) -> str:
    """HTML of the API without the @names that the text begins with: a conversation shows them."""
    return NAMES_BEFORE.sub("<p>", html, count=1)


def plain(html: str) -> str:
    """The text of HTML that the API made, in one line. Not safe: templates escape it again."""
    return unescape(strip_tags(html.replace("</p>", " ").replace("<br", " <br"))).strip()


def host(url: str) -> str:
    """The host that a URL leads to: people see it before they follow an ad."""
    return urlsplit(url).hostname or ""


def field_time(text: str) -> str:
    """A time of the API as a field for a date and a time has it, in the person's time zone."""
    there = datetime.fromisoformat(text).astimezone(page_zone())
    return f"{there:%Y-%m-%dT%H:%M}"


def is_new_day(message: Entity, before: Entity | None) -> bool:
    """Whether a message is of a later day than the one before it, in the person's time zone."""
    return not before or _local(message).date() != _local(before).date()


def goes_on(message: Entity, before: Entity | None) -> bool:
    """Whether a message belongs to the one before it: of the same person, soon after."""
    if not before or message["account"]["id"] != before["account"]["id"]:
        return False
    return (_local(message) - _local(before)).total_seconds() < SOON_S


def _local(message: Entity) -> datetime:
    return datetime.fromisoformat(message["created_at"]).astimezone(page_zone())


def replying_to(status: Entity) -> str:
    """Which post a reply answers, by the name of its author if the post mentions it."""
    author_id = status.get("in_reply_to_account_id")
    if author_id == status["account"]["id"]:
        return gettext("Continues a thread")
    for mention in status.get("mentions", ()):
        if mention["id"] == author_id:
            return gettext("Replying to @%(acct)s") % mention
    return gettext("Replying to a post")


def unseen_quote(quote: Entity) -> str:
    """Why a quoted post is not shown."""
    return str(_UNSEEN_QUOTES.get(quote["state"], _("You cannot see the quoted post.")))


def percent_of(part: int | None, whole: int) -> int:
    """How many of a hundred. 0 of nothing."""
    return round(100 * (part or 0) / whole) if whole else 0


def uses(history: Sequence[Mapping[str, str]], days: int = WEEK) -> int:
    """In how many posts a tag was on the newest days of its history."""
    return sum(int(day["uses"]) for day in history[:days])


def effect_on(status: Entity | None, page: WebPage) -> FilterEffect:
    """What the viewer's filters do to a post on this page. No effect without a post."""
    if not status or not (status.get("reblog") or status).get("filtered"):
        return NO_EFFECT
    return effect_of_filters(status, page.filter_place, page.viewer)


def shown_on(statuses: Sequence[Entity], page: WebPage) -> list[Entity]:
    """The posts that no filter leaves out of this page."""
    return [status for status in statuses if not effect_on(status, page).hides]


def effect_of_filters(status: Entity, place: str, viewer: Entity | None) -> FilterEffect:
    """`place`: the context of filters that the page is; empty for a page that filters nothing.

    A repost has the filters of its original. The viewer's own posts are shown as they are. A
    promoted account or ad has no filters.
    """
    shown = status.get("reblog") or status
    if not (matched := shown.get("filtered")) or not place or viewer is None:
        return NO_EFFECT
    if shown["account"]["id"] == viewer["id"]:
        return NO_EFFECT
    filters = [result["filter"] for result in matched]
    return _join([rule for rule in filters if place in rule["context"]])


def _join(filters: Sequence[Entity]) -> FilterEffect:
    """A filter that hides also collapses: the page of one post cannot leave it out."""
    actions = {rule["filter_action"] for rule in filters}
    titles = [rule["title"] for rule in filters if rule["filter_action"] != "blur"]
    return FilterEffect(titles[0] if titles else "", "hide" in actions, "blur" in actions)
