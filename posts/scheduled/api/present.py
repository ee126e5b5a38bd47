"""Mastodon's ScheduledStatus, with the reason why one could not be published."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from accounts.images.api.present import present_attachment
from accounts.images.queries.attachments import load_existing_attachments
from accounts.images.types import Attachment
from posts.scheduled.types import PollParams, ScheduledPostRow
from posts.types import STATUS


def present_scheduled(author_id: int, posts: Iterable[ScheduledPostRow]) -> list[bytes]:
    """The entities, in this order. One query if they have images."""
    rows = list(posts)
    wanted = [image_id for row in rows for image_id in row.media_ids]
    images = load_existing_attachments(author_id, wanted) if wanted else {}
    return [orjson.dumps(_entity(author_id, row, images)) for row in rows]


def _entity(
    author_id: int, row: ScheduledPostRow, images: Mapping[int, Attachment]
) -> dict[str, Any]:
    shown = [images[image_id] for image_id in row.media_ids if image_id in images]
    at = datetime.fromtimestamp(row.due_ms / 1000, UTC)
    return {
        "id": str(row.scheduled_id),
        "scheduled_at": f"{at:%Y-%m-%dT%H:%M:%S}.{row.due_ms % 1000:03d}Z",
        "params": _params(row),
        "media_attachments": [present_attachment(author_id, image) for image in shown],
        "error": row.failure or None,
    }


def _params(row: ScheduledPostRow) -> dict[str, Any]:
    params = row.params
    return {
        "text": params.text,
        "poll": _poll(params.poll),
        "media_ids": [str(image_id) for image_id in row.media_ids] or None,
        "sensitive": params.sensitive,
        "spoiler_text": params.spoiler_text or None,
        "visibility": params.visibility,
        "in_reply_to_id": params.in_reply_to,
        "language": params.language,
        "quoted_status_id": params.quoted,
        "quote_approval_policy": params.quote_policy,
        "reply_approval_policy": params.reply_policy,
        "type": params.post_type or STATUS,
        "custom": orjson.Fragment(params.custom) if params.custom else None,
        "application_id": params.application_id,
        "scheduled_at": None,
        "idempotency": row.key or None,
        "with_rate_limit": False,
    }


def _poll(poll: PollParams | None) -> dict[str, Any] | None:
    if poll is None:
        return None
    return {
        "options": list(poll.options),
        "expires_in": poll.expires_in_s,
        "multiple": poll.multiple,
        "hide_totals": poll.hide_totals,
    }
