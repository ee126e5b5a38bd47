"""The buttons under a post. A page has a hundred of them, and templates are slow at it: they took
three quarters of the time of a home page.
"""

from typing import NamedTuple

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pages.filtering import Entity
from pages.templatetags.tideline import icon, short

register = template.Library()


class ActButton(NamedTuple):
    """What a viewer may do with a post. `flag`, `counted`: names in the Status entity.

    `undo`: what the button is called when the act is done, where its name is shown.
    """

    icon: str
    label: str
    flag: str
    counted: str = ""
    undo: str = ""


ACTS = {
    "reblog": ActButton("repost", "Repost", "reblogged", "reblogs_count"),
    "favourite": ActButton("heart", "Favourite", "favourited", "favourites_count"),
    "bookmark": ActButton("bookmark", "Bookmark", "bookmarked"),
    "pin": ActButton("pin", "Pin on my page", "pinned", undo="Unpin from my page"),
    "mute": ActButton("bell", "Mute this thread", "muted", undo="Unmute this thread"),
}
_BUTTON = '<button class="act {}" formaction="{}" hx-post="{}" aria-pressed="{}"{}>{}{}</button>'
_GUESTS_LINK = '<a class="act" href="/auth/sign_in?next=/statuses/{}"{}>{}{}</a>'


@register.simple_tag
def act(status: Entity, name: str, viewer: Entity | None) -> SafeString:
    """An icon with its count. A guest is led to the sign-in page and back."""
    action = ACTS[name]
    count = status[action.counted] if action.counted else 0
    so_far = f", {count} so far" if action.counted else ""
    label = format_html(' aria-label="{}{}"', action.label, so_far)
    shown = format_html("<span>{}</span>", short(count)) if count else ""
    if not viewer:
        return format_html(_GUESTS_LINK, status["id"], label, icon(action.icon), shown)
    return _button(status, name, label, shown)


@register.simple_tag
def menu_act(status: Entity, name: str) -> SafeString:
    """An icon with its name."""
    action = ACTS[name]
    title = action.undo if status[action.flag] else action.label
    return _button(status, name, "", format_html("<span>{}</span>", title))


def _button(status: Entity, name: str, label: str, shown: str) -> SafeString:
    """It sends the form around it to an address of its own, with scripts and without."""
    action = ACTS[name]
    is_on = bool(status[action.flag])
    path = f"/statuses/{status['id']}/{'un' if is_on else ''}{name}"
    pressed = "true" if is_on else "false"
    return format_html(_BUTTON, name, path, path, pressed, label, icon(action.icon), shown)
