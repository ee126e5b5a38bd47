"""A post as the JSON fragment that pages are spliced from: encoded once, never parsed again."""

from datetime import UTC, datetime
from typing import NamedTuple

import orjson
from django.conf import settings

from infra.api.html import to_html
from posts.ids import PostId


class PostRow(NamedTuple):
    """A live post as its shard has it."""

    author_id: int
    moment: int
    text: str
    sensitive: bool
    spoiler_text: str
    language: str | None


def encode_post(row: PostRow) -> bytes:
    """Mastodon's Status without braces, and without what depends on others: account, counts."""
    post_id = PostId.at(row.author_id, row.moment)
    url = f"{settings.PUBLIC_URL}/statuses/{post_id.public}"
    posted_at = datetime.fromtimestamp(post_id.posted_at_s, UTC)
    status: dict[str, object] = {
        "id": post_id.public,
        "created_at": f"{posted_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "in_reply_to_id": None,
        "in_reply_to_account_id": None,
        "sensitive": row.sensitive,
        "spoiler_text": row.spoiler_text,
        "visibility": "public",
        "language": row.language,
        "uri": url,
        "url": url,
        "content": to_html(row.text),
        "reblog": None,
        "application": None,
        "media_attachments": [],
        "mentions": [],
        "tags": [],
        "emojis": [],
        "card": None,
        "poll": None,
        "edited_at": None,
        "filtered": [],
    }
    return orjson.dumps(status)[1:-1]
