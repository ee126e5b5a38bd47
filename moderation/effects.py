"""What moderators' decisions do, in a sentence for the person, by the word of the API."""

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

_EFFECTS = {
    "none": _("The moderators warn you."),
    "disable": _("Your account is frozen: you can read, and write nothing."),
    "silence": _("Your account is limited: only your followers see your posts."),
    "suspend": _("Your account is suspended."),
    "delete_statuses": _("A post of yours was deleted."),
    "hide_statuses": _("A post of yours is hidden."),
    "hide_images": _("A photo of yours is hidden."),
}
_OTHER = _("The moderators decided about your account.")


def effect_of(action: str) -> str:
    """The sentence in the language in force."""
    return gettext(_EFFECTS.get(action, _OTHER))
