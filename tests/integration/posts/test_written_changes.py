"""Changes that functions of the database write: the row says what the inline consumers got."""

import json

import pytest

from infra.changes.models import Change
from infra.changes.registry import read_payload
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.queries.rows import read_posts
from posts.types import Draft, Kind
from relations.actions.follow import follow, unfollow
from tests.world import make_accounts

GOT = "infra.changes.append.inline_consumers_of"


@pytest.fixture
def got(world, monkeypatch):
    """What inline consumers get, in order."""
    deliveries = []
    monkeypatch.setattr(GOT, lambda kinds: [lambda alias, some: deliveries.extend(some)])
    monkeypatch.setattr("infra.changes.append.is_inline_consumer_of", lambda *_: True)
    return deliveries


def changes_of(account_id: int) -> list[tuple]:
    rows = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("id")
    return [(row.id, row.created_at, row.kind, row.payload) for row in rows]


def test_row_and_inline_delivery_agree(got):
    author, reader = make_accounts(2)
    post = create_post(author, Draft("hello"))
    reply = create_post(author, Draft("again", in_reply_to=post), "a key")
    assert create_post(author, Draft("again"), "a key") == reply
    row = read_posts(shard_of(author), [post])[0]
    assert edit_post(row, Draft("#hello again"))
    assert not edit_post(row, Draft("#hello again"))
    repost(author, post)
    undo_repost(author, post)
    mark_post(author, post, Kind.FAVOURITE, True)
    delete_post(reply)
    follow(author, reader)
    unfollow(author, reader)
    found = {d.version: d for d in got}
    rows = changes_of(author)
    assert len(rows) == 9
    for id_, created_at, kind, payload in rows:
        delivery = found[id_]
        named = {name: value for name, value in payload.items() if name != "@requests"}
        assert read_payload(kind, json.dumps(named)) == delivery.payload
        assert created_at == delivery.created_at
