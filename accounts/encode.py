"""An account as a JSON fragment: encoded once, then joined into answers without parsing."""

import orjson
from django.conf import settings
from django.templatetags.static import static

from accounts.types import Profile, Restriction
from infra.api.html import to_html

# The first bytes of the entity of a limited account, so that nothing needs parsing.
LIMITED_HEAD = b'{"limited":true,'


def is_limited(account: bytes) -> bool:
    """Whether this Account entity belongs to an account whose posts only followers see."""
    return account.startswith(LIMITED_HEAD)


def is_fragment(text: bytes) -> bool:
    """Whether this can be the text of `encode_profile`."""
    return text.startswith(b'"') and text.endswith(b"]")


def encode_profile(profile: Profile) -> bytes:
    """Mastodon's Account without braces and without counts, which change more often."""
    site = settings.PUBLIC_URL
    avatar = f"{site}{static('accounts/avatar.svg')}"
    header = f"{site}{static('accounts/header.svg')}"
    # Absent for other accounts, as in Mastodon.
    limited = {"limited": True} if Restriction.LIMITED in profile.restrictions else {}
    account: dict[str, object] = {
        **limited,
        "id": str(profile.id),
        "username": profile.username,
        "acct": profile.username,
        "display_name": profile.display_name,
        # Also if it is stored, from before it was refused: follows need no approval.
        "locked": False,
        "bot": profile.is_bot,
        "discoverable": True,
        "indexable": False,
        "group": False,
        # The day only, as in Mastodon: the time of the sign-up stays private.
        "created_at": f"{profile.created_at:%Y-%m-%d}T00:00:00.000Z",
        "note": to_html(profile.note),
        "url": f"{site}/@{profile.username}",
        "uri": f"{site}/users/{profile.username}",
        "avatar": avatar,
        "avatar_static": avatar,
        "header": header,
        "header_static": header,
        "last_status_at": None,
        "hide_collections": False,
        "noindex": False,
        "emojis": [],
        "roles": [],
        "fields": [],
    }
    return orjson.dumps(account)[1:-1]
