"""The JSON of a post: Mastodon's Status entity, spliced from cached parts without parsing any.

A post's own part is encoded once, as a fragment, and kept in the caches:

    post, reply   "id":"002821109910051","created_at":…
    repost        >00000000000100"id":"002821109910051","created_at":…

The fragment of a repost starts with the base36 id of the reposted post. It has no field `reblog`:
the whole entity of the reposted post goes there. The account, the counts and the viewer's flags
are added to each answer.
"""

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product

import msgspec
import orjson
from django.conf import settings

from accounts.images.api.present import present_attachment
from accounts.images.types import Attachment
from accounts.texts.html import profile_url, render, tag_url
from accounts.texts.links import find_links, is_here
from infra.api.pages import Page
from posts.fragments.places import (
    own_data_of,
    poll_of,
    quote_approval_of,
    quote_of,
    reply_approval_of,
    with_approvals_of,
)
from posts.fragments.read import REPOST_HEAD_BYTES, REPOST_PREFIX, find_thread_text, status_id_of
from posts.ids import PostId
from posts.types import Kind, PostRow, Target, Visibility

FAVOURITED, REPOSTED = 1 << Kind.FAVOURITE, 1 << Kind.REPOST
BOOKMARKED, PINNED = 1 << Kind.BOOKMARK, 1 << Kind.PIN
MUTED = 1 << Kind.THREAD_MUTE
# By post, the sum of the bits of its viewer.
Flags = Mapping[PostId, int]
NO_COUNTS = b'"replies_count":0,"reblogs_count":0,"favourites_count":0,"quotes_count":0'
COUNTS = b'"replies_count":%b,"reblogs_count":%b,"favourites_count":%b,"quotes_count":%b'
_OF_VERSIONS = ("content", "spoiler_text", "sensitive", "media_attachments", "emojis")
_WORDS = (b"false", b"true")
_VISIBILITIES = {visibility.value: visibility.name.lower() for visibility in Visibility}
_BITS = (FAVOURITED, REPOSTED, MUTED, BOOKMARKED, PINNED)
# A Status entity: its fragment, the account, the counts and the viewer's flags.
STATUS = b'{%b,"account":%b,%b,%b}'
# The viewer's flags as JSON, by the sum of their bits.
FLAGS = {
    sum(bit for bit, is_on in zip(_BITS, on, strict=True) if is_on): (
        b'"favourited":%b,"reblogged":%b,"muted":%b,"bookmarked":%b,"pinned":%b'
        % tuple(_WORDS[is_on] for is_on in on)
    )
    for on in product((0, 1), repeat=len(_BITS))
}


def encode_post(row: PostRow) -> bytes:
    """The fragment of a post: its Status without braces, account, counts and viewer's flags."""
    target = row.target
    if target is not None and row.kind == Kind.REPOST:
        head = REPOST_PREFIX + target.post_id.base36.encode()
        return head + orjson.dumps(_post_fields(row, None))[1:-1]
    return orjson.dumps(_post_fields(row, target) | {"reblog": None})[1:-1]


def add_muted(flags: Flags, muted: Container[bytes], posts: Mapping[PostId, bytes]) -> Flags:
    """The flags with MUTED for the posts of muted threads.

    `muted`: public ids of threads. `posts`: their fragments or Status entities.
    """
    muted_posts = {i: MUTED for i, text in posts.items() if find_thread_text(text) in muted}
    return {**flags, **{i: flags.get(i, 0) | bit for i, bit in muted_posts.items()}}


def present_status(
    fragment: bytes, account: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """One Status entity from its parts."""
    return STATUS % (fragment, account, counts, FLAGS[flags])


def present_repost(
    fragment: bytes, account: bytes, original: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """A repost around the whole entity of the original, with the original's counts, flags and
    approvals."""
    fields = with_approvals_of(original, fragment[REPOST_HEAD_BYTES:])
    tail = (account, original, counts, FLAGS[flags])
    return b'{%b,"account":%b,"reblog":%b,%b,%b}' % (fields, *tail)


def page_of_statuses(statuses: Sequence[bytes], has_older: bool) -> Page[bytes]:
    """A page of Status entities, newest first; its cursors are their ids."""
    if not statuses:
        return Page([], None, None)
    older = status_id_of(statuses[-1]) if has_older else None
    return Page(statuses, older, status_id_of(statuses[0]))


def with_reposters(status: bytes, accounts: Sequence[bytes]) -> bytes:
    """A Status with the viewer's followees who reposted its post, the latest reposter first."""
    return b'%b,"reblogged_by":[%b]}' % (status[:-1], b",".join(accounts))


def with_source(status: bytes, text: str) -> bytes:
    """A Status with the text as its author typed it; Mastodon answers a deletion so."""
    return b'%b,"text":%b}' % (status[:-1], orjson.dumps(text))


def present_version(row: PostRow, account: bytes) -> bytes:
    """The StatusEdit entity of one version of a post."""
    fields = _post_fields(row, None)
    version = {name: fields[name] for name in _OF_VERSIONS}
    version["created_at"] = fields["edited_at"] or fields["created_at"]
    if row.poll:
        version["poll"] = {"options": [{"title": title} for title in row.poll["options"]]}
    return b'{%b,"account":%b}' % (orjson.dumps(version)[1:-1], account)


def post_url(post_id: PostId) -> str:
    """The address of a post's page."""
    return f"{settings.PUBLIC_URL}/statuses/{post_id.public}"


def _post_fields(row: PostRow, parent: Target | None) -> dict[str, object]:
    post_id = PostId.at(row.author_id, row.moment)
    url = post_url(post_id)
    posted_at = datetime.fromtimestamp(post_id.posted_at_s, UTC)
    return {
        "id": post_id.public,
        "created_at": f"{posted_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "conversation_id": row.thread.public,
        "in_reply_to_id": parent.post_id.public if parent and not row.is_orphan else None,
        "in_reply_to_account_id": str(parent.author_id) if parent else None,
        "visibility": _VISIBILITIES[row.visibility],
        "sensitive": row.sensitive,
        "spoiler_text": row.spoiler_text,
        "language": row.language,
        "uri": url,
        "url": url,
        "content": content_of(row),
        "application": row.application,
        "media_attachments": present_media(row),
        "mentions": [_mention_of(*mention) for mention in row.mentions or ()],
        "reply_approval": reply_approval_of(row, row.kind == Kind.REPOST),
        "tags": [{"name": name, "url": tag_url(name)} for name in row.tags or ()],
        "emojis": [],
        "card": None,
        "poll": poll_of(post_id.public, row.poll) if row.poll else None,
        "edited_at": f"{row.edited_at:%Y-%m-%dT%H:%M:%S}.000Z" if row.edited_at else None,
        "quote": quote_of(row),
        "quote_approval": quote_approval_of(row, row.kind == Kind.REPOST),
        **own_data_of(row),
        "filtered": [],
    }


def content_of(row: PostRow) -> str:
    """Its text as HTML, with links to what it names."""
    links = find_links(row.text)
    mentioned = {name for _, name in row.mentions or ()}
    names = {name: name.name for name in links.names if name.name in mentioned and is_here(name)}
    return render(row.text, links, names)


def _mention_of(account_id: int, username: str) -> dict[str, str]:
    return {
        "id": str(account_id),
        "username": username,
        "acct": username,
        "url": profile_url(username),
    }


def present_media(row: PostRow) -> list[dict[str, object]]:
    """The images of a post, without those that moderators hid."""
    if not row.media:
        return []
    images = msgspec.convert(row.media, list[Attachment])
    return [present_attachment(row.author_id, image) for image in images if not image.is_hidden]
