"""People around ann, so that each of the pages she can open has something to show."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, ProfileField
from infra.sharding.buckets import shard_of
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.scheduled.actions.publish_due import publish_due
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.browser.feeds import make_named
from tests.browser.live_site import settle
from tests.callers import Caller
from tests.world import drain_all, publish

STATUSES = "/api/v1/statuses"
POLL = {"options": ["tea", "milk"], "expires_in": 600}
FACT = ProfileField("Harbour", "https://harbour.example")


def make_neighbours() -> dict[str, str]:
    """The ids that addresses of pages have: of ann, of a post of ben, of one of ann, of a list, of
    a scheduled post."""
    ann, ben, cora = map(make_named, ("ann", "ben", "cora"))
    follow(ann, ben)
    follow(ben, ann)
    post = publish(ben, "A post about #tea with https://tea.example/ for @ann")
    repost(ben, publish(cora, "worth a repost"))
    write_all_kinds(Caller(ben))
    own = publish(ann, "my first words").public
    Caller(ann).client.put(f"{STATUSES}/{own}", {"status": "my own"}, "application/json")
    for act in ("favourite", "reblog"):
        Caller(ben).post(f"{STATUSES}/{own}/{act}")
    keep_away(ann)
    drain_all()
    settle()  # a worker may have the lease of what is left
    names = {"ann": str(ann), "post": post.public, "own": own, "list": make_list(ann, ben)}
    return {**names, "scheduled": make_scheduled(ann)}


def write_all_kinds(author: Caller) -> None:
    """A post with a warning, one with a poll, and one for ann only."""
    kinds: tuple[dict[str, Any], ...] = (
        {"status": "hidden text", "spoiler_text": "a warning"},
        {"status": "which?", "poll": POLL},
        {"status": "@ann for you only", "visibility": "direct"},
    )
    for kind in kinds:
        assert author.post(STATUSES, kind).status_code == 200, kind


def keep_away(ann: int) -> None:
    """She muted one account and blocked another, and one asks to follow her."""
    dan, eve, finn = map(make_named, ("dan", "eve", "finn"))
    mute(ann, dan)
    block(ann, eve)
    update_profile(ann, ProfileEdit(is_locked=True, note="By the sea", fields=(FACT,)))
    follow(finn, ann)


def make_scheduled(author: int) -> str:
    """The id of a post for later. Another one could not be published: what it answers is gone."""
    parent, caller = publish(author, "soon gone"), Caller(author)
    soon, later = (
        (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat() for minutes in (10, 60)
    )
    answer = {"status": "an answer", "in_reply_to_id": parent.public, "scheduled_at": soon}
    assert caller.post(STATUSES, answer).status_code == 200
    delete_post(parent)
    publish_due(shard_of(author), time.time_ns() // 1_000_000 + 11 * 60_000)
    post = {"status": "later", "spoiler_text": "careful", "poll": POLL, "scheduled_at": later}
    return str(caller.post(STATUSES, post).json()["id"])


def make_list(owner: int, member: int) -> str:
    caller = Caller(owner)
    made = str(caller.post("/api/v1/lists", {"title": "Tea"}).json()["id"])
    caller.post(f"/api/v1/lists/{made}/accounts", {"account_ids": [str(member)]})
    return made
