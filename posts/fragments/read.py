"""Reads one field of a post's fragment or Status entity, nearly always without parsing it.

`present.py` writes them. Text that people write has no unescaped quotes, so it cannot look like a
field.
"""

import re
from collections.abc import Iterable

import orjson

from posts.ids import BASE36_DIGITS, PostId
from posts.types import Kind, Target, Visibility

REPOST_PREFIX = b">"
REPOST_HEAD_BYTES = len(REPOST_PREFIX) + BASE36_DIGITS
# The first matches are the fields themselves: text that people write comes after them.
_THREAD = re.compile(rb'"conversation_id":"(\d+)"')
_ANSWERED = re.compile(rb'"in_reply_to_id":(?:null|"(\d+)")')
_REPLIED_TO = re.compile(rb'"in_reply_to_account_id":(?:null|"(\d+)")')
_VISIBILITY = re.compile(rb'"visibility":"(\w+)"')
_LANGUAGE = re.compile(rb'"language":(?:null|"([^"]*)")')
MENTIONS = b'"mentions":['
_FIRST_FIELD = b'"id":"'
_REPOST_START = re.compile(rb'%b[0-9a-z]{%d}"id":"' % (REPOST_PREFIX, BASE36_DIGITS))
# A fragment that was cut off cannot end like this.
_LAST_FIELDS = (b'"filtered":[]', b'"reblog":null')
_ID_START = len(b'{"id":"')
_BY_WORD = {visibility.name.lower().encode(): visibility for visibility in Visibility}


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
    match = _REPLIED_TO.search(fragment)
    return int(match[1]) if match and match[1] else None


def find_language(fragment: bytes) -> str | None:
    """The language of a post; None if it says none, or is a repost."""
    match = _LANGUAGE.search(fragment)
    return match[1].decode() if match and match[1] else None


def find_target(status: bytes, post_id: PostId, original: PostId) -> Target | None:
    """What a post is about, from its Status entity. `original`: the post itself unless it is a
    repost."""
    if original != post_id:
        return Target(Kind.REPOST, original.author_id, original.moment)
    match = _ANSWERED.search(status)
    if match is None or match[1] is None:
        return None
    answered = PostId.from_public(match[1].decode())
    return Target(Kind.REPLY, answered.author_id, answered.moment)


def find_tags(fragment: bytes) -> set[str]:
    """The normalized tags of a post that is no repost. Parses the whole fragment."""
    return {tag["name"] for tag in orjson.loads(b"{%b}" % fragment)["tags"]}


def has_media(fragment: bytes) -> bool:
    return b'"media_attachments":[{' in fragment


def is_edited(fragment: bytes) -> bool:
    return b'"edited_at":null' not in fragment


def find_thread(fragment: bytes) -> PostId:
    """The first post of the thread, from a fragment or a Status entity.

    Raises: ValueError if this is neither.
    """
    return PostId.from_public(find_thread_text(fragment).decode())


def find_thread_text(text: bytes) -> bytes:
    """The public id of `find_thread`, as it is written there."""
    match = _THREAD.search(text)
    if match is None:
        raise ValueError("neither a fragment nor a Status entity")
    return match[1]


def find_visibility(fragment: bytes) -> Visibility:
    """Of the post of this fragment or Status entity; of a repost, its own.

    DIRECT if there is none that is known: then only the author sees the post.
    """
    match = _VISIBILITY.search(fragment)
    return _BY_WORD.get(match[1], Visibility.DIRECT) if match else Visibility.DIRECT


def is_open(fragment: bytes) -> bool:
    """Whether the post is for all accounts and guests: public or unlisted."""
    return find_visibility(fragment) <= Visibility.UNLISTED


def is_mentioned(account_id: int, fragment: bytes) -> bool:
    """Whether the post of this fragment mentions the account."""
    _, _, mentions = fragment.partition(MENTIONS)
    return b'{"id":"%d",' % account_id in mentions.partition(b"]")[0]


def status_id_of(status: bytes) -> str:
    """The id of a Status entity, which is also a cursor."""
    return status[_ID_START : status.index(b'"', _ID_START)].decode()


def post_id_of(status: bytes) -> PostId:
    """The post, or repost, of a Status entity."""
    return PostId.from_public(status_id_of(status))
