"""The JSON of a post: Mastodon's Status entity, spliced from cached parts without parsing any.

A post's own part is encoded once, as a fragment, and kept in the caches:

    post, reply   "id":"002821109910051","created_at":…
    repost        >00000000000100"id":"002821109910051","created_at":…

The fragment of a repost starts with the base36 id of the reposted post. It has no field `reblog`:
the whole entity of the reposted post goes there. The account, the counts and the viewer's flags
are added to each answer.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product

import orjson
from django.conf import settings

from infra.api.html import to_html
from infra.api.pages import Page
from posts.ids import BASE36_DIGITS, PostId
from posts.types import Kind, PostRow, Target, Visibility

FAVOURITED, REPOSTED, BOOKMARKED = (1 << k for k in (Kind.FAVOURITE, Kind.REPOST, Kind.BOOKMARK))
NO_COUNTS = b'"replies_count":0,"reblogs_count":0,"favourites_count":0'
REPOST_PREFIX = b">"
REPOST_HEAD_BYTES = len(REPOST_PREFIX) + BASE36_DIGITS
# The first match is the field itself: text that people write comes after it.
REPLIED_TO = re.compile(rb'"in_reply_to_account_id":(?:null|"(\d+)")')
# Text that people write has no unescaped quotes, so a shorter fragment cannot end like this.
_LAST_FIELDS = (b'"filtered":[]', b'"reblog":null')
_ID_START = len(b'{"id":"')
_WORDS = (b"false", b"true")
_PUBLIC = Visibility.PUBLIC.name.lower()
# The viewer's flags as JSON, by the sum of their bits.
_FLAGS = {
    FAVOURITED * favourited + REPOSTED * reposted + BOOKMARKED * bookmarked: (
        b'"favourited":%b,"reblogged":%b,"muted":false,"bookmarked":%b'
        % (_WORDS[favourited], _WORDS[reposted], _WORDS[bookmarked])
    )
    for favourited, reposted, bookmarked in product((0, 1), repeat=3)
}
# They are the last fields of a Status entity.
_FLAG_ENDS = {flags: b"%b}" % fields for flags, fields in _FLAGS.items()}
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
    head = REPOST_HEAD_BYTES if find_reposted(fragment) else 0
    if not (fragment.startswith(b'"id":"', head) and fragment.endswith(_LAST_FIELDS)):
        raise ValueError("not the fragment of a post")
    return fragment


def find_replied_to(fragment: bytes) -> int | None:
    """The id of the account that a reply's fragment answers; None for other fragments."""
    found = REPLIED_TO.search(fragment)
    return int(found[1]) if found and found[1] else None


def present_counts(text: bytes) -> bytes:
    """The count fields. `text`: `replies,reposts,favourites` as digits."""
    return b'"replies_count":%b,"reblogs_count":%b,"favourites_count":%b' % (*text.split(b","),)


def present_status(fragment: bytes, account: bytes, counts: bytes = NO_COUNTS) -> bytes:
    """One Status entity from its parts, without the viewer's flags: none is set."""
    return b'{%b,"account":%b,%b,%b}' % (fragment, account, counts, _FLAGS[0])


def with_flags(status: bytes, flags: int) -> bytes:
    """The result of `present_status` with the viewer's flags."""
    return status[:_FLAGS_START] + _FLAG_ENDS[flags] if flags else status


def present_repost(
    fragment: bytes, account: bytes, original: bytes, counts: bytes = NO_COUNTS, flags: int = 0
) -> bytes:
    """A repost around the whole entity of the original, with the original's counts and flags."""
    tail = (account, original, counts, _FLAGS[flags])
    return b'{%b,"account":%b,"reblog":%b,%b,%b}' % (fragment[REPOST_HEAD_BYTES:], *tail)


def status_id_of(status: bytes) -> str:
    """The id of a Status entity, which is also a cursor."""
    return status[_ID_START : status.index(b'"', _ID_START)].decode()


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


def _post_fields(row: PostRow, parent: Target | None) -> dict[str, object]:
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
        "visibility": _PUBLIC,
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
