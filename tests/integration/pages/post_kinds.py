"""A post of every kind, for what must hold for all of them.

`missing_kinds` compares the rows with the models: a new kind, visibility, policy, mark, restriction
or column that no post here has is named, and asks for one more function here.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Field

from accounts.models import Account
from accounts.types import Restriction
from infra.sharding.buckets import shard_of
from infra.sharding.models import ShardedModel
from infra.sharding.shards import shard_aliases
from moderation.types import DecisionKind
from posts.actions.declare_type import declare_type
from posts.actions.end_polls import end_polls
from posts.ids import PostId
from posts.models import PollVote, Post, PostVersion, Response, ViewerMark
from posts.scheduled.types import PostParams
from posts.types import Kind, QuotePolicy, ReplyPolicy
from relations.actions.follow import follow
from tests.callers import Caller
from tests.people import decide_on
from tests.pictures import picture, upload
from tests.world import drain_all, make_account, restrict

STATUSES = "/api/v1/statuses"
POLL = {"options": ["black", "green"], "expires_in": 300}
# A name like one of ours must stay what the product sent.
OWN_TYPE, OWN_DATA = "recipe.cooked", {"minutes": 40, "quote": {"visibility": "direct"}}
# Of a kind only in a list that Redis keeps.
NOT_STORED = {Kind.SELF_REPLY}
NEVER_WRITTEN = {"Response.visibility"}
TABLES = (Post, PostVersion, ViewerMark, Response, PollVote)


class Cast(NamedTuple):
    """ann writes, fan follows ann and is followed, other is unrelated to both."""

    ann: int
    fan: int
    other: int


def make_cast() -> Cast:
    cast = Cast(*(make_account(name) for name in Cast._fields))
    follow(cast.fan, cast.ann)
    follow(cast.ann, cast.fan)
    drain_all()
    return cast


def write(author: int, text: str = "hello #tide", **params: Any) -> str:
    answer = Caller(author).post(STATUSES, {"status": text, **params})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def vote(voter: int, post_id: str, *choices: int) -> None:
    answer = Caller(voter).post(f"/api/v1/polls/{post_id}/votes", {"choices": choices})
    assert answer.status_code == 200, answer.content


def act(account_id: int, post_id: str, name: str) -> str:
    answer = Caller(account_id).post(f"{STATUSES}/{post_id}/{name}")
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def edit(author: int, post_id: str, text: str = "edited", **params: Any) -> str:
    answer = Caller(author).put(f"{STATUSES}/{post_id}", {"status": text, **params})
    assert answer.status_code == 200, answer.content
    return post_id


def delete(author: int, post_id: str) -> str:
    assert Caller(author).delete(f"{STATUSES}/{post_id}").status_code == 200
    return post_id


def upload_images(author: int) -> list[str]:
    files = [{"file": upload(picture()), "description": text} for text in ("a cup", "")]
    return [Caller(author).client.post("/api/v2/media", file).json()["id"] for file in files]


def with_images(author: int, **params: Any) -> str:
    return write(author, media_ids=upload_images(author), **params)


def with_poll(author: int, votes: Mapping[int, int] | None = None, **more: Any) -> str:
    post = write(author, poll=POLL | more)
    for voter, choice in (votes or {}).items():
        vote(voter, post, choice)
    return post


def quoting(cast: Cast, quoted: str) -> str:
    return write(cast.fan, "look", quoted_status_id=quoted)


def revoked(cast: Cast) -> str:
    post = quoting(cast, quoted := write(cast.ann))
    path = f"{STATUSES}/{quoted}/quotes/{post}/revoke"
    assert Caller(cast.ann).post(path).status_code == 200
    return post


def ended_poll(cast: Cast) -> str:
    post = with_poll(cast.ann, {cast.fan: 0})
    end_polls(shard_of(cast.ann), time.time() + POLL["expires_in"] + 60)
    return post


def hidden(cast: Cast) -> str:
    post = PostId.from_public(write(cast.ann))
    decide_on(post, DecisionKind.HIDE)
    return post.public


def of_restricted(restriction: Restriction) -> Callable[[Cast], str]:
    """The author follows the reader's people, so that the post was at their homes."""

    def make(cast: Cast) -> str:
        author = make_account(f"{restriction.words}1")
        follow(cast.fan, author)
        post = write(author, "@ann @fan hello #tide")
        write(cast.ann, "an answer", in_reply_to_id=post)
        drain_all()
        restrict(author, restriction)
        return post

    return make


KINDS: Mapping[str, Callable[[Cast], str]] = {
    "plain": lambda cast: write(cast.ann),
    "with a language": lambda cast: write(cast.ann, language="de"),
    "with a mention": lambda cast: write(cast.ann, "@other @fan see"),
    "with a warning": lambda cast: write(cast.ann, spoiler_text="tide", sensitive=True),
    "unlisted": lambda cast: write(cast.ann, visibility="unlisted"),
    "private": lambda cast: write(cast.ann, visibility="private"),
    "direct": lambda cast: write(cast.ann, "@fan psst", visibility="direct"),
    "for oneself": lambda cast: write(cast.ann, "note", visibility="direct"),
    "reply": lambda cast: write(cast.fan, "@ann yes", in_reply_to_id=write(cast.ann)),
    "private reply": lambda cast: write(
        cast.fan, "@ann yes", in_reply_to_id=write(cast.ann), visibility="private"
    ),
    "reply to oneself": lambda cast: write(cast.ann, in_reply_to_id=write(cast.ann)),
    "reply to a deleted one": lambda cast: orphan(cast),
    "repost": lambda cast: act(cast.fan, write(cast.ann), "reblog"),
    "repost of a poll": lambda cast: act(cast.fan, with_poll(cast.ann), "reblog"),
    "repost of a private one": lambda cast: act(
        cast.ann, write(cast.ann, visibility="private"), "reblog"
    ),
    "images": lambda cast: with_images(cast.ann),
    "covered images": lambda cast: with_images(cast.ann, spoiler_text="tide"),
    "poll": lambda cast: with_poll(cast.ann),
    "poll with votes": lambda cast: with_poll(cast.ann, {cast.fan: 0, cast.other: 1}),
    "poll of secret results": lambda cast: with_poll(cast.ann, {cast.fan: 0}, hide_totals=True),
    "poll of several choices": lambda cast: with_poll(cast.ann, {cast.fan: 1}, multiple=True),
    "poll of a follower": lambda cast: with_poll(cast.fan, {cast.ann: 0}),
    "ended poll": ended_poll,
    "edited": lambda cast: edit(cast.ann, write(cast.ann)),
    "edited twice": lambda cast: edit(cast.ann, edit(cast.ann, write(cast.ann)), "again"),
    "edited mention": lambda cast: edit(cast.ann, write(cast.ann, "@fan see")),
    "edited warning": lambda cast: edit(
        cast.ann, write(cast.ann, spoiler_text="tide", sensitive=True)
    ),
    "edited images": lambda cast: edit(cast.ann, with_images(cast.ann)),
    "edited text of a poll": lambda cast: edit(
        cast.ann, with_poll(cast.ann, {cast.fan: 0}), poll=POLL
    ),
    "edited options of a poll": lambda cast: edited_options(cast),
    "poll taken out": lambda cast: edit(cast.ann, with_poll(cast.ann)),
    "of a product": lambda cast: of_product(cast),
    "edited data of a product": lambda cast: edit(cast.ann, of_product(cast), custom={}),
    "quote": lambda cast: quoting(cast, write(cast.ann)),
    "quote of a quote": lambda cast: quoting(cast, quoting(cast, write(cast.ann))),
    "quote of a poll": lambda cast: quoting(cast, with_poll(cast.ann)),
    "edited quote": lambda cast: edit(cast.fan, quoting(cast, with_images(cast.ann))),
    "private quote": lambda cast: write(
        cast.fan, "look", quoted_status_id=write(cast.ann), visibility="private"
    ),
    "revoked quote": revoked,
    "quote of a deleted one": lambda cast: quote_of_deleted(cast),
    "hidden": hidden,
    "deleted": lambda cast: delete(cast.ann, write(cast.ann)),
    **{
        f"to be quoted by {policy.public}": lambda cast, policy=policy: write(
            cast.ann, quote_approval_policy=policy.public
        )
        for policy in QuotePolicy
    },
    **{
        f"to be answered by {policy.public}": lambda cast, policy=policy: write(
            cast.ann, reply_approval_policy=policy.public
        )
        for policy in ReplyPolicy
    },
    **{f"of a {one.words} account": of_restricted(one) for one in Restriction},
}


def of_product(cast: Cast) -> str:
    declare_type(OWN_TYPE, {"en": "cooked"})
    return write(cast.ann, type=OWN_TYPE, custom=OWN_DATA)


def orphan(cast: Cast) -> str:
    post = write(cast.fan, "@ann yes", in_reply_to_id=(first := write(cast.ann)))
    delete(cast.ann, first)
    return post


def edited_options(cast: Cast) -> str:
    post = with_poll(cast.ann, {cast.fan: 0})
    edit(cast.ann, post, poll=POLL | {"options": ["red", "blue"]})
    vote(cast.other, post, 1)
    return post


def quote_of_deleted(cast: Cast) -> str:
    post = quoting(cast, quoted := write(cast.ann))
    delete(cast.ann, quoted)
    return post


def make_posts(cast: Cast) -> dict[str, str]:
    """The id of one post of each kind. fan keeps all in the lists of marked posts."""
    posts = {name: make(cast) for name, make in KINDS.items()}
    drain_all()
    for post in posts.values():
        for mark in ("favourite", "bookmark", "mute", "unmute"):
            Caller(cast.fan).post(f"{STATUSES}/{post}/{mark}")
    schedule_all(cast.ann)
    for mark in ("pin", "mute"):
        act(cast.ann, posts["plain"], mark)
    drain_all()
    return posts


def schedule_all(author: int) -> None:
    """A scheduled post with each field that one can have."""
    earlier = write(author)
    fields: dict[str, dict[str, Any]] = {
        "sensitive": {"sensitive": True},
        "spoiler_text": {"spoiler_text": "tide"},
        "visibility": {"visibility": "unlisted"},
        "language": {"language": "de"},
        "in_reply_to": {"in_reply_to_id": earlier},
        "media_ids": {"media_ids": upload_images(author)},
        "poll": {"poll": POLL},
        "quoted": {"quoted_status_id": earlier},
        "quote_policy": {"quote_approval_policy": "nobody"},
        "reply_policy": {"reply_approval_policy": "nobody"},
        "post_type": {"type": OWN_TYPE},
        "custom": {"custom": OWN_DATA},
    }
    assert {*fields} == {*PostParams.__struct_fields__} - {
        "text",
        "application",
        "application_id",
    }
    for day, params in enumerate(fields.values(), start=1):
        due = datetime.now(UTC) + timedelta(days=day)
        write(author, "later", scheduled_at=due.isoformat(), **params)


def missing_kinds() -> Iterator[str]:
    """What the tables of posts can hold and no row holds."""
    for model in TABLES:
        rows = _rows(model)
        for field in model._meta.concrete_fields:
            name = f"{model.__name__}.{field.name}"
            if name not in NEVER_WRITTEN:
                yield from _missing(name, field, rows)
    kinds = {row["kind"] for model in (Post, Response, ViewerMark) for row in _rows(model)}
    yield from (f"Kind.{kind.name}" for kind in set(Kind) - kinds - NOT_STORED)
    held = {row for alias in shard_aliases() for row in _restrictions(alias)}
    yield from (f"Account.restrictions: {one.words}" for one in set(Restriction) - held)


def _rows(model: type[ShardedModel]) -> list[dict[str, Any]]:
    return [row for alias in shard_aliases() for row in model.objects.on(alias).values()]


def _restrictions(alias: str) -> list[int]:
    return list(Account.objects.on(alias).values_list("restrictions", flat=True))


def _missing(name: str, field: "Field[Any, Any]", rows: list[dict[str, Any]]) -> Iterator[str]:
    if field.primary_key:
        return
    held = [row[field.attname] for row in rows]
    wanted = [value for value, _ in field.choices or ()]
    yield from (f"{name}: {value}" for value in wanted if value not in held)
    if not wanted and all(value == held[0] for value in held):
        yield f"{name}: another value than {held[:1]}"
