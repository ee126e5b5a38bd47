"""Mastodon's Instance entities: a description of this site and its features."""

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.templatetags.static import static
from orjson import Fragment

from accounts.images.codec.decode import FORMATS
from accounts.images.types import DESCRIPTION_LENGTH, MOST_OF_POST
from accounts.queries.site_counts import SiteCounts
from accounts.site_texts.types import LongText, SiteDescription
from accounts.vapid import vapid_public_key
from infra.version import VERSION

# Clients choose features by the Mastodon version at the start.
API_VERSION = f"4.5.0 (compatible; Tideline {VERSION})"
# 7: quotes. What Tideline lacks of the versions before is on the page of the API.
MASTODON_API = 7
_ISO_639 = re.compile(r"[a-z]{2,3}")
PUBLIC_FEEDS = {"local": "public", "remote": "public"}
DESCRIPTION = "A social feed you run yourself."


def present_instance(
    counts: SiteCounts, texts: SiteDescription, contact: Fragment | None
) -> dict[str, Any]:
    """The entity of GET /api/v1/instance. `contact`: an account."""
    return {
        "uri": domain(),
        "title": settings.INSTANCE_TITLE,
        "short_description": texts.summary or DESCRIPTION,
        "description": texts.summary or DESCRIPTION,
        "email": texts.email,
        "version": API_VERSION,
        "urls": {"streaming_api": _streaming_url()},
        "stats": {"user_count": counts.users, "status_count": counts.posts, "domain_count": 0},
        "thumbnail": _thumbnail(),
        "languages": [code for code, _ in settings.LANGUAGES],
        "registrations": True,
        "approval_required": False,
        "invites_enabled": False,
        "configuration": _configuration(),
        "contact_account": contact,
        "rules": present_rules(texts),
    }


def present_instance_v2(
    counts: SiteCounts, texts: SiteDescription, contact: Fragment | None
) -> dict[str, Any]:
    """The entity of GET /api/v2/instance. `contact`: an account."""
    return {
        "domain": domain(),
        "title": settings.INSTANCE_TITLE,
        "version": API_VERSION,
        "source_url": "",
        "description": texts.summary or DESCRIPTION,
        "usage": {"users": {"active_month": counts.users}},
        "thumbnail": {"url": _thumbnail()},
        "icon": [],
        "languages": [code for code, _ in settings.LANGUAGES],
        "configuration": _configuration() | _configuration_v2(),
        "registrations": {
            "enabled": True,
            "approval_required": False,
            "reason_required": False,
            "message": None,
            "min_age": None,
            "url": None,
        },
        "api_versions": {"mastodon": MASTODON_API},
        "contact": {"email": texts.email, "account": contact},
        "rules": present_rules(texts),
    }


def present_rules(texts: SiteDescription) -> list[dict[str, object]]:
    """The entities of GET /api/v1/instance/rules, in their order."""
    return [
        {
            "id": str(rule.rule_id),
            "text": rule.text,
            "hint": rule.hint,
            "translations": rule.translations,
        }
        for rule in texts.rules
    ]


def present_long_text(text: LongText) -> dict[str, str | None]:
    """Mastodon's ExtendedDescription and PrivacyPolicy."""
    changed_at = text.changed_at
    updated_at = f"{changed_at:%Y-%m-%dT%H:%M:%S}.000Z" if changed_at else None
    return {"updated_at": updated_at, "content": text.html}


def list_languages() -> list[dict[str, str]]:
    """The languages a post may have by their ISO 639 codes, as Django names them."""
    return [
        {"code": code, "name": names["name"]}
        for code, names in sorted(LANG_INFO.items())
        if "name" in names and _ISO_639.fullmatch(code)
    ]


def _configuration() -> dict[str, Any]:
    return {
        "accounts": {"max_featured_tags": 10, "max_pinned_statuses": settings.MAX_PINNED_POSTS},
        "statuses": {
            "max_characters": settings.POST_MAX_CHARACTERS,
            "max_media_attachments": MOST_OF_POST,
            "characters_reserved_per_url": 23,
        },
        "media_attachments": {
            "supported_mime_types": [f"image/{name.lower()}" for name in FORMATS],
            "description_limit": DESCRIPTION_LENGTH,
            "image_size_limit": settings.MEDIA_MAX_BYTES,
            "image_matrix_limit": settings.MEDIA_MAX_PIXELS,
            "video_size_limit": 0,
            "video_matrix_limit": 0,
            "video_frame_rate_limit": 0,
        },
        "polls": {
            "max_options": 4,
            "max_characters_per_option": 50,
            "min_expiration": 300,
            "max_expiration": 2_629_746,
        },
    }


def _configuration_v2() -> dict[str, Any]:
    return {
        "urls": {
            "streaming": _streaming_url(),
            "about": f"{settings.PUBLIC_URL}/about",
            "privacy_policy": f"{settings.PUBLIC_URL}/privacy",
            "terms_of_service": None,
        },
        "vapid": {"public_key": vapid_public_key()},
        "translation": {"enabled": bool(settings.TRANSLATION_URL)},
        # Guests read them all. There are no trending links, and no feeds of other sites.
        "timelines_access": {
            "live_feeds": PUBLIC_FEEDS,
            "hashtag_feeds": PUBLIC_FEEDS,
            "trending_link_feeds": {"local": "disabled", "remote": "disabled"},
        },
        "limited_federation": True,
    }


def domain() -> str:
    """The host of this site, with its port unless that is the usual one."""
    return urlsplit(settings.PUBLIC_URL).netloc


def _streaming_url() -> str:
    return settings.STREAMING_URL or f"ws{settings.PUBLIC_URL.removeprefix('http')}"


def _thumbnail() -> str:
    return f"{settings.PUBLIC_URL}{static('accounts/header.svg')}"
