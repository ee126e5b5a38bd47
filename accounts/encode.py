"""An account as the JSON fragment that answers are spliced from: encoded once, never parsed."""

import orjson
from django.conf import settings
from django.templatetags.static import static

from accounts.types import Profile, Restriction
from infra.api.html import to_html

# What an entity of a limited account begins with: told apart without looking further.
LIMITED_HEAD = b'{"limited":true,'


def is_limited(account: bytes) -> bool:
    """Whether this Account entity is one of an account whose posts only followers see."""
    return account.startswith(LIMITED_HEAD)


def encode_profile(profile: Profile) -> bytes:
    """Mastodon's Account without braces, and without the counts, which change at another rate."""
    site = settings.PUBLIC_URL
    avatar = f"{site}{static('accounts/avatar.svg')}"
    header = f"{site}{static('accounts/header.svg')}"
    # Left out where it does not hold, as Mastodon does.
    limited = {"limited": True} if Restriction.LIMITED in profile.restrictions else {}
    account: dict[str, object] = {
        **limited,
        "id": str(profile.id),
        "username": profile.username,
        "acct": profile.username,
        "display_name": profile.display_name,
        "locked": profile.is_locked,
        "bot": profile.is_bot,
        "discoverable": True,
        "indexable": False,
        "group": False,
        # Mastodon shows the day only: the second somebody signed up at is nobody's business.
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
