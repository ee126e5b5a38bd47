"""After a suspension all that others read is as it was, also what they have read during it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.types import Restriction
from infra.sharding.shards import shard_aliases
from moderation.actions.timed_restrictions import end_due_restrictions
from moderation.types import DecisionKind
from posts.actions.end_polls import end_polls
from tests.callers import Caller, ids_of
from tests.people import Community, decide
from tests.reads import OF_THE_SITE, Read, World, all_reads, answers
from tests.truth import assert_drained_truth
from tests.world import drain_all, forget_keys

pytestmark = pytest.mark.slow
Seen = dict[Read, list[tuple[int, bytes, str]]]
# Of the last computation.
TRENDS = "/api/v1/trends/statuses"


class Town(Community):
    """All that accounts do to a person and the person to them. Others are seen by `watchers`."""

    def __init__(self) -> None:
        super().__init__()
        ids = (self.me, self.moderated, self.friend, self.unrelated)
        self.names = dict(User.objects.filter(pk__in=ids).values_list("pk", "username"))
        self.callers = {account_id: Caller(account_id) for account_id in ids}
        self.posts = [self.theirs.public, self.friends.public, self.repost_of_theirs.public]
        for follower in (self.me, self.friend, self.unrelated):
            self.do(follower, f"accounts/{self.moderated}/follow", notify=True)
        self._write()
        drain_all()
        world = World(self.names, self.posts)
        reads = [one for one in all_reads(world) if one.path not in OF_THE_SITE]
        self.reads = [one for one in reads if not one.path.startswith(TRENDS)]
        self.watchers = {"guest": Client(), "me": self.callers[self.me].client}

    def do(self, account_id: int, path: str, **body: Any) -> Any:
        answer = self.callers[account_id].post(f"/api/v1/{path}", body)
        assert answer.status_code == 200, (path, answer.content)
        return answer.json()

    def seen(self) -> dict[str, Seen]:
        return {name: answers(client, self.reads) for name, client in self.watchers.items()}

    def _write(self) -> None:
        them, me = self.moderated, f"@{self.names[self.me]}"
        tagged = self._post(them, "tea #tea")
        poll = self._post(them, "a poll", poll={"options": ["a", "b"], "expires_in": 3600})
        self.do(self.me, f"polls/{poll}/votes", choices=[0])
        self._post(them, "a quote", quoted_status_id=self.friends.public)
        self._post(self.friend, "quotes them", quoted_status_id=self.theirs.public)
        self._post(them, f"{me} an answer", in_reply_to_id=self._post(self.me, "a question"))
        self._post(them, f"{me} a secret", visibility="direct")
        self._post(them, "for followers", visibility="private")
        for act in ("favourite", "bookmark", "reblog"):
            self.do(self.me, f"statuses/{tagged}/{act}")
        self.do(them, f"statuses/{tagged}/pin")
        self.do(them, "featured_tags", name="tea")
        self.do(self.me, f"accounts/{them}/pin")

    def _post(self, author: int, text: str, **more: Any) -> str:
        made: str = self.do(author, "statuses", status=text, **more)["id"]
        self.posts.append(made)
        return made


@pytest.mark.parametrize("prepare", [lambda: None, forget_keys])
def test_all_that_others_read_is_as_it_was(
    world: None, settings: Settings, prepare: Callable[[], None]
) -> None:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    town = Town()
    before = town.seen()
    end = datetime.now(UTC) + timedelta(hours=1)
    decide(town.moderated, DecisionKind.SUSPEND, ends_at=end)
    decide(town.moderated, DecisionKind.LIMIT)
    drain_all()
    prepare()
    assert town.seen() != before
    decide(town.moderated, DecisionKind.RESTORE, lifted=Restriction.LIMITED)
    assert end_due_restrictions(end) == 1
    drain_all()
    after = town.seen()
    for name, reads in before.items():
        assert not [one.path for one in reads if reads[one] != after[name][one]], name
    assert_drained_truth()


def test_what_was_not_delivered_before_is_there_after(world: None) -> None:
    """Notifications, messages, counts, tags and home pages of what was done just before."""
    town = Community()
    me, them = Caller(town.me), Caller(town.moderated)
    name = User.objects.get(pk=town.me).username
    mine = _write(me, "mine")
    drain_all()
    poll = {"options": ["a", "b"], "expires_in": 300}
    tagged = _write(them, f"@{name} #late", poll=poll)
    for act in ("favourite", "reblog"):
        them.post(f"/api/v1/statuses/{mine}/{act}")
    quote = _write(them, "a quote", quoted_status_id=mine)
    _write(them, f"@{name} a secret", visibility="direct")
    assert me.post(f"/api/v1/polls/{tagged}/votes", {"choices": [0]}).status_code == 200
    decide(town.moderated, DecisionKind.SUSPEND)
    for alias in shard_aliases():
        end_polls(alias, time.time() + 400)
    drain_all()
    assert me.get("/api/v1/notifications").json() == me.get("/api/v1/conversations").json() == []
    decide(town.moderated, DecisionKind.RESTORE)
    drain_all()
    kinds = {one["type"] for one in me.get("/api/v1/notifications").json()}
    assert kinds >= {"mention", "favourite", "reblog", "quote", "poll"}
    assert {tagged, quote} < {*ids_of(me.get("/api/v1/timelines/home"))}
    assert ids_of(me.get("/api/v1/timelines/tag/late")) == [tagged]
    assert len(me.get("/api/v1/conversations").json()) == 1
    status = me.get(f"/api/v1/statuses/{mine}").json()
    assert [status[f"{one}_count"] for one in ("favourites", "reblogs", "quotes")] == [1, 1, 1]
    assert_drained_truth()


def _write(author: Caller, text: str, **more: Any) -> str:
    made = author.post("/api/v1/statuses", {"status": text, **more})
    assert made.status_code == 200, made.content
    return str(made.json()["id"])
