"""A post as the JSON fragment that pages are spliced from: encoded once, never parsed again.

    post, reply   "id":"00000100000203","created_at":…
    repost        >00000000000100"id":"00000100000203","created_at":…

What stands before the JSON of a repost is the public id of the post it shows. It has no field
`reblog`: the whole entity of that post goes there.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple

import orjson
from django.conf import settings

from infra.api.html import to_html
from posts.ids import PostId
from posts.types import Kind, Target


class PostRow(NamedTuple):
    """A live post as its shard has it."""

    author_id: int
    moment: int
    text: str
    sensitive: bool
    spoiler_text: str
    language: str | None
    kind: int = Kind.POST
    target_author: int | None = None
    target_moment: int | None = None

    @property
    def target(self) -> Target | None:
        return Target.of(self.kind, self.target_author, self.target_moment)


REPOST_MARK = b">"
REPOST_HEAD_BYTES = 15
# The first of the name is the field: what people write comes after it.
REPLIED_TO = re.compile(rb'"in_reply_to_account_id":(?:null|"(\d+)")')


def encode_post(row: PostRow) -> bytes:
    """Mastodon's Status without braces, and without what depends on others: account, counts."""
    target = row.target
    if target is not None and row.kind == Kind.REPOST:
        head = REPOST_MARK + target.post_id.public.encode()
        return head + orjson.dumps(_status(row, None))[1:-1]
    return orjson.dumps(_status(row, target) | {"reblog": None})[1:-1]


def find_reposted(fragment: bytes) -> PostId | None:
    """The post that this fragment shows, when it is a repost's."""
    if not fragment.startswith(REPOST_MARK):
        return None
    return PostId.from_public(fragment[1:REPOST_HEAD_BYTES].decode())


def find_replied_to(fragment: bytes) -> int | None:
    """Whose post this fragment replies to, when it is a reply's."""
    found = REPLIED_TO.search(fragment)
    return int(found[1]) if found and found[1] else None


def _status(row: PostRow, parent: Target | None) -> dict[str, object]:
    post_id = PostId.at(row.author_id, row.moment)
    url = f"{settings.PUBLIC_URL}/statuses/{post_id.public}"
    posted_at = datetime.fromtimestamp(post_id.posted_at_s, UTC)
    return {
        "id": post_id.public,
        "created_at": f"{posted_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "in_reply_to_id": parent.post_id.public if parent else None,
        "in_reply_to_account_id": str(parent.author_id) if parent else None,
        "sensitive": row.sensitive,
        "spoiler_text": row.spoiler_text,
        "visibility": "public",
        "language": row.language,
        "uri": url,
        "url": url,
        "content": to_html(row.text),
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
