"""The JSON of a post: Mastodon's Status entity, spliced from cached parts without parsing any.

A post's own part is encoded once, as a fragment, and kept in the caches:

    post, reply   "id":"002821109910051","created_at":…
    repost        >00000000000100"id":"002821109910051","created_at":…

The fragment of a repost starts with the base36 id of the reposted post. It has no field `reblog`:
the whole entity of the reposted post goes there. The account, the counts and the viewer's flags
are added to each answer.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
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
    poll_of,
    quote_approval_of,
    quote_of,
    reply_approval_of,
    with_approvals_of,
)
from posts.ids import BASE36_DIGITS, PostId
from posts.types import Kind, PostRow, Target, Visibility

FAVOURITED, REPOSTED = 1 << Kind.FAVOURITE, 1 << Kind.REPOST
BOOKMARKED, PINNED = 1 << Kind.BOOKMARK, 1 << Kind.PIN
MUTED = 1 << Kind.THREAD_MUTE
# By post, the sum of the bits of its viewer.
Flags = Mapping[PostId, int]
NO_COUNTS = b'"replies_count":0,"reblogs_count":0,"favourites_count":0,"quotes_count":0'
COUNTS = b'"replies_count":%b,"reblogs_count":%b,"favourites_count":%b,"quotes_count":%b'
REPOST_PREFIX = b">"
REPOST_HEAD_BYTES = len(REPOST_PREFIX) + BASE36_DIGITS
# The first matches are the fields themselves: text that people write comes after them.
THREAD = re.compile(rb'"conversation_id":"(\d+)"')
ANSWERED = re.compile(rb'"in_reply_to_id":(?:null|"(\d+)")')
REPLIED_TO = re.compile(rb'"in_reply_to_account_id":(?:null|"(\d+)")')
# So is this one.
VISIBILITY = re.compile(rb'"visibility":"(\w+)"')
# What people write before it has no unescaped quotes.
LANGUAGE = re.compile(rb'"language":(?:null|"([^"]*)")')
MENTIONS = b'"mentions":['
# Text that people write has no unescaped quotes, so a shorter fragment cannot end like this.
_FIRST_FIELD = b'"id":"'
_REPOST_START = re.compile(rb'%b[0-9a-z]{%d}"id":"' % (REPOST_PREFIX, BASE36_DIGITS))
_LAST_FIELDS = (b'"filtered":[]', b'"reblog":null')
_ID_START = len(b'{"id":"')
_OF_VERSIONS = ("content", "spoiler_text", "sensitive", "media_attachments", "emojis")
_WORDS = (b"false", b"true")
_VISIBILITIES = {visibility.value: visibility.name.lower() for visibility in Visibility}
_BY_WORD = {visibility.name.lower().encode(): visibility for visibility in Visibility}
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
# They are the last fields of a Status entity.
_FLAG_ENDS = {flags: b"%b}" % fields for flags, fields in FLAGS.items()}
_FLAGS_START = -len(_FLAG_ENDS[0])


def encode_post(row: PostRow) -> bytes:
    """The fragment of a post: its Status without braces, account, counts and viewer's flags."""
    target = row.target
    if target is not None and row.kind == Kind.REPOST:
        head = REPOST_PREFIX + target.post_id.base36.encode()
        return head + orjson.dumps(_post_fields(row, None))[1:-1]
    return orjson.dumps(_post_fields(row, target) | {"reblog": None})[1:-1]


def is_repost(fragment: bytes) -> bool:
    """Whether this is the fragment of a repost, which is no JSON without its original."""
    return fragment.startswith(REPOST_PREFIX)


def find_reposted(fragment: bytes) -> PostId | None:
    """The post that a repost's fragment shows; None for other fragments."""
    if not is_repost(fragment):
        return None
    return PostId.from_base36(fragment[1:REPOST_HEAD_BYTES].decode())


def check_fragment(fragment: bytes) -> bytes:
    """The same bytes. Raises ValueError if they cannot be the result of `encode_post`."""
    check_fragments((fragment,))
    return fragment


def check_fragments(fragments: Iterable[bytes]) -> None:
    """Raises ValueError if one cannot be the result of `encode_post`."""
    for fragment in fragments:
        has_start = fragment.startswith(_FIRST_FIELD) or _REPOST_START.match(fragment)
        if not (has_start and fragment.endswith(_LAST_FIELDS)):
            raise ValueError("not the fragment of a post")


def find_replied_to(fragment: bytes) -> int | None:
    """The id of the account that a reply's fragment answers; None for other fragments."""
    match = REPLIED_TO.search(fragment)
    return int(match[1]) if match and match[1] else None


def find_language(fragment: bytes) -> str | None:
    """The language of a post; None if it says none, or is a repost."""
    match = LANGUAGE.search(fragment)
    return match[1].decode() if match and match[1] else None


def find_target(status: bytes, post_id: PostId, original: PostId) -> Target | None:
    """What a post is about, from its Status entity. `original`: the post itself unless it is a
    repost."""
    if original != post_id:
        return Target(Kind.REPOST, original.author_id, original.moment)
    match = ANSWERED.search(status)
    if match is None or match[1] is None:
        return None
    answered = PostId.from_public(match[1].decode())
    return Target(Kind.REPLY, answered.author_id, answered.moment)


def find_tags(fragment: bytes) -> set[str]:
    """The normalized tags of a post that is no repost. Parses the whole fragment."""
    return {tag["name"] for tag in orjson.loads(b"{%b}" % fragment)["tags"]}


def has_media(fragment: bytes) -> bool:
    # Text that people write has no unescaped quotes.
    return b'"media_attachments":[{' in fragment


def is_edited(fragment: bytes) -> bool:
    # Text that people write has no unescaped quotes.
    return b'"edited_at":null' not in fragment


def find_thread(fragment: bytes) -> PostId:
    """The first post of the thread, from a fragment or a Status entity.

    Raises: ValueError if this is neither.
    """
    return PostId.from_public(_find_thread_text(fragment).decode())


def add_muted(flags: Flags, muted: Container[bytes], posts: Mapping[PostId, bytes]) -> Flags:
    """The flags with MUTED for the posts of muted threads.

    `muted`: public ids of threads. `posts`: their fragments or Status entities.
    """
    muted_posts = {i: MUTED for i, text in posts.items() if _find_thread_text(text) in muted}
    return {**flags, **{i: flags.get(i, 0) | bit for i, bit in muted_posts.items()}}


def _find_thread_text(text: bytes) -> bytes:
    match = THREAD.search(text)
    if match is None:
        raise ValueError("neither a fragment nor a Status entity")
    return match[1]


def find_visibility(fragment: bytes) -> Visibility:
    """Of the post of this fragment or Status entity; of a repost, its own.

    DIRECT if there is none that is known: then only the author sees the post.
    """
    match = VISIBILITY.search(fragment)
    return _BY_WORD.get(match[1], Visibility.DIRECT) if match else Visibility.DIRECT


def is_open(fragment: bytes) -> bool:
    """Whether the post is for all accounts and guests: public or unlisted."""
    return find_visibility(fragment) <= Visibility.UNLISTED


def is_mentioned(account_id: int, fragment: bytes) -> bool:
    """Whether the post of this fragment mentions the account."""
    _, _, mentions = fragment.partition(MENTIONS)
    return b'{"id":"%d",' % account_id in mentions.partition(b"]")[0]


def present_status(
    fragment: bytes, account: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """One Status entity from its parts."""
    return STATUS % (fragment, account, counts, FLAGS[flags])


def with_flags(status: bytes, flags: int) -> bytes:
    """The result of `present_status` with the viewer's flags."""
    return status[:_FLAGS_START] + _FLAG_ENDS[flags] if flags else status


def present_repost(
    fragment: bytes, account: bytes, original: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """A repost around the whole entity of the original, with the original's counts, flags and
    approvals."""
    fields = with_approvals_of(original, fragment[REPOST_HEAD_BYTES:])
    tail = (account, original, counts, FLAGS[flags])
    return b'{%b,"account":%b,"reblog":%b,%b,%b}' % (fields, *tail)


def status_id_of(status: bytes) -> str:
    """The id of a Status entity, which is also a cursor."""
    return status[_ID_START : status.index(b'"', _ID_START)].decode()


def post_id_of(status: bytes) -> PostId:
    """The post, or repost, of a Status entity."""
    return PostId.from_public(status_id_of(status))


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
