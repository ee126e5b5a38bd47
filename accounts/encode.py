"""An account as a JSON fragment: encoded once, then joined into answers without parsing."""

import re

import orjson
from django.conf import settings
from django.templatetags.static import static

from accounts.default_avatar import avatar_address
from accounts.images.file_names import url_of_file
from accounts.texts.html import line_to_html, to_html
from accounts.types import Profile, ProfileField, Restriction, ServiceObject
from infra.api.sealed_json import seal

HEADER = "accounts/header.svg"
# The first bytes of the entity of a limited account, so that nothing needs parsing.
LIMITED_HEAD = b'{"limited":true,'
LOCKED = b'"locked":true'
DISCOVERABLE = b'"discoverable":true'
NOT_INDEXABLE = b'"indexable":false'
OBJECT = b'"group":true'
HIDES_COLLECTIONS = b'"hide_collections":true'


def is_limited(account: bytes) -> bool:
    """Whether this Account entity belongs to an account whose posts only followers see."""
    return account.startswith(LIMITED_HEAD)


def is_locked(account: bytes) -> bool:
    """Whether the account of this entity or fragment approves its followers.

    A text inside a value cannot match: its quotes are escaped.
    """
    return LOCKED in account


def is_object(account: bytes) -> bool:
    """Whether the account of this entity or fragment is a thing of a service."""
    return OBJECT in account


def is_discoverable(account: bytes) -> bool:
    """Whether the account of this entity may be shown to people who do not look for it."""
    return DISCOVERABLE in account


def is_indexable(account: bytes) -> bool:
    """Whether searches may find the posts of the account of this entity. Also for its posts."""
    return NOT_INDEXABLE not in account


def hides_collections(account: bytes) -> bool:
    """Whether only the account of this entity sees its followers and its followees."""
    return HIDES_COLLECTIONS in account


# Whether a text can be that of `encode_profile`: by its two ends, without a call of Python.
is_fragment = re.compile(rb'"(?s:.*)\]').fullmatch


def encode_profile(profile: Profile) -> bytes:
    """Mastodon's Account without braces and without counts, which change more often."""
    site = settings.PUBLIC_URL
    avatar = avatar_address(profile)
    header = url_of_file(profile.header) if profile.header else f"{site}{static(HEADER)}"
    account: dict[str, object] = {
        "limited": Restriction.LIMITED in profile.restrictions,
        "id": str(profile.id),
        "username": profile.username,
        "acct": profile.username,
        "display_name": profile.display_name,
        "locked": profile.is_locked,
        "bot": profile.is_bot,
        "discoverable": profile.is_discoverable,
        "indexable": profile.is_indexable,
        "group": profile.service_object is not None,
        # The day only, as in Mastodon: the time of the sign-up stays private.
        "created_at": f"{profile.created_at:%Y-%m-%d}T00:00:00.000Z",
        "note": to_html(profile.note),
        "url": f"{site}/@{profile.username}",
        "uri": f"{site}/users/{profile.username}",
        "avatar": avatar,
        "avatar_static": avatar,
        "header": header,
        "header_static": header,
        "hide_collections": profile.hides_collections,
        "noindex": False,
        "emojis": [],
        "roles": [],
        "suspended": False,  # one that is suspended is shown to no one
        "memorial": False,
        "moved": None,
        **_present_object(profile.service_object),
        "fields": [_present_field(field) for field in profile.fields],
    }
    return orjson.dumps(account)[1:-1]


def _present_object(owned: ServiceObject | None) -> dict[str, object]:
    """Only where there is one: people's accounts have not a byte of it."""
    if owned is None:
        return {}
    shown: dict[str, object] = {"kind": owned.kind, "external_id": owned.external_id}
    shown |= {"url": owned.url or None, "image": owned.image or None}
    return {"object": shown if owned.custom is None else shown | {"custom": seal(owned.custom)}}


def _present_field(field: ProfileField) -> dict[str, object]:
    return {"name": field.name, "value": line_to_html(field.value), "verified_at": None}
