"""Pages of an account's conversations, and single ones."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import orjson

from accounts.queries.load import load_account_json
from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.moving import beginning_again
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.conversations.errors import ConversationNotFound
from posts.ids import MalformedPostId, PostId
from posts.queries.row_pages import ListSource, Row, list_rows
from posts.reading.statuses import load_visible
from relations.visibility import Surface

ONE = """
SELECT last_second, last_arrival, last_author, last_sequence, thread_author, thread_moment,
    is_unread::int
FROM conversations_conversation
WHERE owner_id = %s AND thread_author = %s AND thread_moment = %s
"""
# The order of a PostId's fields.
ARRIVAL = """
SELECT arrival FROM conversations_directpost
WHERE owner_id = %s AND second = %s AND author_id = %s AND sequence = %s
"""


def list_conversations(owner_id: int, window: Window) -> Page[bytes]:
    """Conversation entities whose latest post the owner may see, latest first.

    Those of one second are in the order in which their latest posts arrived. Raises: InvalidCursor.
    Cost: one query by index, the posts, and the accounts; more often if conversations are left out.
    A cursor, the id of a latest post, is one more query by key.
    """
    return list_rows(_source_of(owner_id), (owner_id,), window, partial(_show, owner_id))


def count_visible(owner_id: int, unread: Sequence[PostId], limit: int, now_ms: int) -> int:
    """How many of these unread conversations count; at most `limit`. `unread`: the latest post of
    each, as posts.conversations.cache has them.

    Those whose latest post the owner may not see do not count, nor those whose latest post is of an
    account that the owner mutes. Cost: nothing without unread ones, else one round trip; two if
    some do not count.
    """
    count = 0
    for part in (unread[:limit], unread[limit:]):
        if part and count < limit:
            count += len(load_visible({i: i for i in part}, owner_id, Surface.BROUGHT, now_ms))
    return min(count, limit)


@beginning_again
def get_conversation_json(owner_id: int, thread: PostId) -> bytes:
    """One conversation. Raises: ConversationNotFound, also if its latest post is not visible."""
    row = fetch_one(shard_of(owner_id), ONE, (owner_id, thread.author_id, thread.moment))
    body = _show(owner_id, [row])[0] if row else None
    if body is None:
        raise ConversationNotFound
    return body


def _show(owner_id: int, rows: Sequence[Row]) -> list[bytes | None]:
    ids = [_latest_of(row) for row in rows]
    statuses = load_visible({i: i for i in ids}, owner_id)
    others = {i: _others_in(status, owner_id) for i, status in statuses.items()}
    accounts = load_account_json({account_id for some in others.values() for account_id in some})
    return [
        _present(
            row,
            statuses[i],
            (accounts[account_id] for account_id in others[i] if account_id in accounts),
        )
        if i in statuses
        else None
        for i, row in zip(ids, rows, strict=True)
    ]


def _others_in(status: bytes, owner_id: int) -> list[int]:
    """The author of a post and the accounts that it mentions; the owner only without others."""
    post: Mapping[str, list[dict[str, str]]] = orjson.loads(status)
    named = [post["account"], *post["mentions"]]
    ids = dict.fromkeys(int(mention["id"]) for mention in named)  # type: ignore[index]
    return [account_id for account_id in ids if account_id != owner_id] or [owner_id]


def _present(row: Row, status: bytes, accounts: Iterable[bytes]) -> bytes:
    thread = PostId.at(*row[4:6]).public.encode()
    return b'{"id":"%b","unread":%b,"accounts":[%b],"last_status":%b}' % (
        thread, b"true" if row[6] else b"false", b",".join(accounts), status,
    )  # fmt: skip


def _latest_of(row: Row) -> PostId:
    second, _, author_id, sequence = row[:4]
    return PostId(second, author_id, sequence)


def _encode(row: Row) -> str:
    return _latest_of(row).base36


def _decode(owner_id: int, text: str) -> Row:
    """The place of a post among the owner's. One query.

    One that the owner does not have is before all others of its second. So is a cursor that is only
    a time.
    """
    try:
        post_id = PostId.from_cursor(text)
    except MalformedPostId:
        raise InvalidCursor from None
    row = fetch_one(shard_of(owner_id), ARRIVAL, (owner_id, *post_id))
    return post_id.second, row[0] if row else 0, post_id.author_id, post_id.sequence


def _source_of(owner_id: int) -> ListSource:
    return ListSource(
        "conversations_conversation",
        ("last_second", "last_arrival", "last_author", "last_sequence"),
        ("owner_id",),
        _encode,
        partial(_decode, owner_id),
        where="true",
        more=("thread_author", "thread_moment", "is_unread::int"),
    )
