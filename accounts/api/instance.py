"""Mastodon's Instance entities: a description of this site and its features."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.templatetags.static import static

from accounts.queries.site_counts import SiteCounts

# Clients choose features by the Mastodon version at the start.
VERSION = "4.3.0 (compatible; Tideline 0.1.0)"
MASTODON_API = 2
DESCRIPTION = "A social feed you run yourself."


def present_instance(counts: SiteCounts) -> dict[str, Any]:
    """The entity of GET /api/v1/instance."""
    return {
        "uri": _domain(),
        "title": settings.INSTANCE_TITLE,
        "short_description": DESCRIPTION,
        "description": DESCRIPTION,
        "email": "",
        "version": VERSION,
        "urls": {},
        "stats": {"user_count": counts.users, "status_count": counts.posts, "domain_count": 0},
        "thumbnail": _thumbnail(),
        "languages": ["en"],
        "registrations": True,
        "approval_required": False,
        "invites_enabled": False,
        "configuration": _configuration(),
        "contact_account": None,
        "rules": [],
    }


def present_instance_v2(counts: SiteCounts) -> dict[str, Any]:
    """The entity of GET /api/v2/instance."""
    return {
        "domain": _domain(),
        "title": settings.INSTANCE_TITLE,
        "version": VERSION,
        "source_url": "",
        "description": DESCRIPTION,
        "usage": {"users": {"active_month": counts.users}},
        "thumbnail": {"url": _thumbnail()},
        "icon": [],
        "languages": ["en"],
        "configuration": _configuration() | _configuration_v2(),
        "registrations": {"enabled": True, "approval_required": False, "message": None},
        "api_versions": {"mastodon": MASTODON_API},
        "contact": {"email": "", "account": None},
        "rules": [],
    }


def _configuration() -> dict[str, Any]:
    return {
        "accounts": {"max_featured_tags": 0, "max_pinned_statuses": 0},
        "statuses": {
            "max_characters": settings.POST_MAX_CHARACTERS,
            "max_media_attachments": 0,
            "characters_reserved_per_url": 23,
        },
        "media_attachments": {"supported_mime_types": []},
        "polls": {"max_options": 0},
    }


def _configuration_v2() -> dict[str, Any]:
    return {
        "urls": {},
        "vapid": {"public_key": ""},
        "translation": {"enabled": False},
        "limited_federation": True,
    }


def _domain() -> str:
    return urlsplit(settings.PUBLIC_URL).netloc


def _thumbnail() -> str:
    return f"{settings.PUBLIC_URL}{static('accounts/header.svg')}"
