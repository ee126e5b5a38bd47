"""Random histories: after any history the home timeline is what the oracle computes."""

from typing import Any

import orjson
import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from accounts.types import Restriction
from infra.api.pages import Window
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.declare_reaction import declare_reaction
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.fragments.reactions import open_reactions
from posts.ids import EPOCH, SEQUENCES, PostId
from posts.queries.reactions import find_shown_name, get_reaction_kind
from posts.reading.statuses import load_status_json
from posts.types import Draft, Visibility
from relations.actions.follow import follow, unfollow
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.homes import ids_of, read_from_bottom, read_to_end
from tests.integration.timelines.indexed import lower_mark
from tests.oracle import Oracle
from tests.truth import assert_drained_truth
from tests.world import NOW, clean, drain_all, make_accounts, publish, restrict
from timelines.feeds.author import author_page
from timelines.feeds.author_batches import AuthorTimelineQuery
from timelines.home.page import home_page
from timelines.recent.low_water_mark import raise_low_water_mark
from timelines.stores.factory import timeline_store

pytestmark = pytest.mark.slow

PEOPLE = 4
REACTIONS = ("clap", "cooked_it")
EXPIRE = "DELETE FROM timelines_recentpost WHERE moment < %s"
person = st.integers(0, PEOPLE - 1)
step = st.one_of(
    step_of("publish", person, st.integers(0, 2)),
    step_of("publish", person, st.integers(0, 2)),
    step_of("publish_closed", person, st.integers(0, 3 * PEOPLE - 1)),
    step_of("delete", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 3)),
    step_of("take_back", person, st.integers(0, 3)),
    step_of("reply", person, st.integers(0, 50)),
    step_of("favourite", person, st.integers(0, 3)),
    step_of("unfavourite", person, st.integers(0, 3)),
    step_of("react", person, st.integers(0, 4 * len(REACTIONS) - 1)),
    step_of("unreact", person, st.integers(0, 4 * len(REACTIONS) - 1)),
    step_of("follow", person, person),
    step_of("follow", person, person),
    step_of("unfollow", person, person),
    step_of("suspend", person),
    step_of("restore", person),
    step_of("hide", person, st.integers(0, 3)),
    step_of("show", person, st.integers(0, 3)),
    step_of("read", person),
    step_of("drain"),
    step_of("evict", person),
    step_of("flush"),
    step_of("claim", what=st.integers(0, 12)),
    step_of("expire", person, st.integers(0, 12)),
)


class History:
    """Runs steps on the product and on the oracle."""

    def __init__(self) -> None:
        self.people = make_accounts(PEOPLE)
        for name in REACTIONS:
            declare_reaction(name, {"en": name}, at_ms=0)
        self.names = dict(User.objects.values_list("id", "username"))
        self.oracle = Oracle()
        self.posts: dict[int, list[PostId]] = {account: [] for account in self.people}
        self.ever: list[PostId] = []
        self.deleted: set[PostId] = set()
        self.reposts: dict[tuple[int, PostId], PostId] = {}
        self.second = 100
        self.suspended: set[int] = set()
        self.kept_from = dict.fromkeys(settings.SHARD_ALIASES, 0)
        self.revision = 0

    def run(self, name: str, who: int | None, what: int | None) -> None:
        account = None if who is None else self.people[who]
        getattr(self, name)(account, what)

    def publish(self, author: int, pause: int) -> None:
        self.second += pause
        post = publish(author, clock_s=self.clock_s)
        self._add(author, post)
        self.oracle.publish(author, post.public)

    def publish_closed(self, author: int, how: int) -> None:
        """An unlisted, private or direct post that mentions one of the people. Some are replies."""
        visibility, mentioned = Visibility(1 + how % 3), self.people[how // 3]
        text, parent = f"hello @{self.names[mentioned]}", self._pick(how) if how > PEOPLE else None
        draft = Draft(text, visibility=visibility, in_reply_to=parent)
        post = create_post(author, draft, clock_s=self.clock_s)
        self._add(author, post)
        self.oracle.publish(author, post.public)
        if parent is not None:
            self.oracle.reply(author, post.public, parent.public)
        self.oracle.close(post.public, visibility, [mentioned])

    def _add(self, author: int, post: PostId) -> None:
        self.posts[author].append(post)
        self.ever.append(post)

    def _pick(self, which: int) -> PostId | None:
        """A post that is no repost. It may be deleted."""
        return self.ever[which % len(self.ever)] if self.ever else None

    def repost(self, account: int, which: int) -> None:
        original = self._pick(which)
        if original is not None and self.oracle.may_repost(account, original.public):
            visibility = self.oracle.visibility_of_repost(original.public)
            event = repost(account, original, Visibility(visibility), self.clock_s)
            assert self.reposts.setdefault((account, original), event) == event, "twice is once"
            self.oracle.repost(account, event.public, original.public)
            self.oracle.close(event.public, visibility)

    def take_back(self, account: int, which: int) -> None:
        original = self._pick(which)
        if original is not None:
            event = self.reposts.pop((account, original), None)
            was_undone = undo_repost(account, original)
            if original not in self.deleted:  # of a deleted post, the drain may have undone it
                assert was_undone == (event is not None)
            if event is not None:
                self.oracle.delete(account, event.public)
                self.check_gone(account, event)

    def reply(self, account: int, which: int) -> None:
        parent = self._pick(which)
        if parent is not None:
            draft = Draft("so?", in_reply_to=parent)
            post = create_post(account, draft, clock_s=self.clock_s)
            self._add(account, post)
            self.oracle.reply(account, post.public, parent.public)

    def favourite(self, account: int, which: int) -> None:
        self._mark(account, which, "favourite", is_on=True)

    def unfavourite(self, account: int, which: int) -> None:
        self._mark(account, which, "favourite", is_on=False)

    def react(self, account: int, how: int) -> None:
        self._mark(account, how // len(REACTIONS), REACTIONS[how % len(REACTIONS)], is_on=True)

    def unreact(self, account: int, how: int) -> None:
        self._mark(account, how // len(REACTIONS), REACTIONS[how % len(REACTIONS)], is_on=False)

    def _mark(self, account: int, which: int, name: str, is_on: bool) -> None:
        post = self._pick(which)
        if post is not None:
            mark_post(account, post, get_reaction_kind(name), is_on)
            self.oracle.react(account, post.public, name, is_on)

    def clock_s(self) -> float:
        return EPOCH + self.second

    def delete(self, author: int, which: int) -> None:
        posts = self.posts[author]
        if posts:
            post = posts.pop(which % len(posts))
            delete_post(post)
            self.deleted.add(post)
            self.oracle.delete(author, post.public)
            self.check_gone(author, post)

    def check_gone(self, author: int, post: PostId) -> None:
        for reader in self.people:
            for body in home_page(reader, Window(40)).items:
                shown = orjson.loads(body)
                assert post.public not in (shown["id"], (shown["reblog"] or shown)["id"])

    def suspend(self, account: int, _: None) -> None:
        """Restricted accounts may act here, as requests that were admitted before."""
        restrict(account, Restriction.SUSPENDED)
        self.suspended.add(account)
        self.oracle.suspend(account, True)
        for reader in self.people:
            for body in home_page(reader, Window(40)).items:
                assert str(account) not in _authors_of(orjson.loads(body))

    def restore(self, account: int, _: None) -> None:
        restrict(account, Restriction.NONE)
        self.suspended.discard(account)
        self.oracle.suspend(account, False)

    def hide(self, account: int, which: int, is_on: bool = True) -> None:
        post = self._pick(which)
        if post is not None:
            self.revision += 1
            hide_post(post, NOW if is_on else None, self.revision)
            self.oracle.hide(post.public, is_on)
            if is_on:
                self.check_gone(account, post)

    def show(self, account: int, which: int) -> None:
        self.hide(account, which, is_on=False)

    def follow(self, account: int, other: int) -> None:
        if account != self.people[other] and self.people[other] not in self.suspended:
            follow(account, self.people[other])
            self.oracle.follow(account, self.people[other], 0)

    def unfollow(self, account: int, other: int) -> None:
        unfollow(account, self.people[other])
        self.oracle.unfollow(account, self.people[other])

    def read(self, account: int, _: None) -> None:
        """Before the drain posts may be late, but nothing may be shown that should not be."""
        shown = read_to_end(account, 5)
        brought = self.oracle.brought(account).values()
        assert set(shown) <= {post for by in brought for post in by}
        assert shown == sorted(set(shown), reverse=True)

    def drain(self, _: None, __: None) -> None:
        drain_all()

    def evict(self, account: int, _: None) -> None:
        timeline_store().drop(account)

    def flush(self, _: None, __: None) -> None:
        redis().call("FLUSHDB")

    def claim(self, _: None, ago: int) -> None:
        """From now on pages and rebuilds read the indexes, down to a mark.

        True at any time: what is not drained yet is not promised.
        """
        for alias, kept_from in self.kept_from.items():
            lower_mark(alias, max(kept_from, self.second - ago))

    def expire(self, account: int, ago: int) -> None:
        """As drop_old_days, with a second as a day: deletes what is below the mark."""
        alias = shard_of(account)
        self.kept_from[alias] = max(self.kept_from[alias], self.second - ago)
        raise_low_water_mark(alias, self.kept_from[alias])
        execute(alias, EXPIRE, (self.kept_from[alias] * SEQUENCES,))

    def check(self) -> None:
        drain_all()
        for account in self.people:
            expected = self.oracle.home(account)
            assert read_to_end(account, 4) == expected
            assert read_from_bottom(account, 3) == expected
            self.check_responses(account)
            self.check_reposters(account)
            timeline_store().drop(account)
            assert read_to_end(account, 5) == expected, "rebuilt equals kept"
            self.check_reposters(account)
            self.check_secrecy(account)
        self.check_indexes()
        assert_drained_truth()

    def check_indexes(self) -> None:
        """For any low-water marks: home timelines built from all that the indexes have."""
        self.claim(None, self.second)
        for account in self.people:
            timeline_store().drop(account)
            assert read_to_end(account, 5) == self.oracle.home(account), "built from the index"

    def check_secrecy(self, account: int) -> None:
        """Single posts, and the pages of all authors."""
        shown = {post.public for post in load_status_json(self.ever, account)}
        expected = {p.public for p in self.ever if self.oracle.may_see(account, p.public)}
        assert shown == expected
        for author in set(self.people) - self.suspended:
            page = author_page(AuthorTimelineQuery(author, account), Window(40))
            assert ids_of(page.items) == self.oracle.page(author, account)

    def check_reposters(self, account: int) -> None:
        """Names at least the reposters above the timeline's low-water mark, and all below it."""
        mark = timeline_store().find_complete_from(account) or 0
        for body in home_page(account, Window(40)).items:
            shown = orjson.loads(body)
            if shown["reblog"] is not None:
                original = shown["reblog"]["id"]
                by = [PostId.from_public(p) for p in self.oracle.brought(account)[original]]
                bound = mark if by[0].second >= mark else 0
                everybody = [p for p in by if p.public != original]
                held = [p.author_id for p in everybody if p.second >= bound]
                named = [int(one["id"]) for one in shown["reblogged_by"]]
                assert named in (held, [p.author_id for p in everybody])
            else:
                assert "reblogged_by" not in shown

    def check_responses(self, account: int) -> None:
        for body in home_page(account, Window(40)).items:
            shown = orjson.loads(open_reactions(body, find_shown_name))
            shown = shown["reblog"] or shown
            counted = (shown[f"{name}_count"] for name in ("replies", "reblogs", "favourites"))
            assert (*counted,) == self.oracle.responses(shown["id"])
            post = PostId.from_public(shown["id"])
            assert shown["reblogged"] == ((account, post) in self.reposts)
            assert shown["favourited"] == self.oracle.favours(account, shown["id"])
            expected = self.oracle.reactions(account, shown["id"], REACTIONS)
            assert shown.get("reactions", []) == expected


def _authors_of(shown: dict[str, Any]) -> set[str]:
    """Who wrote or reposted it. Posts may mention others."""
    accounts = [(shown["reblog"] or shown)["account"], shown["account"]]
    return {one["id"] for one in [*accounts, *shown.get("reblogged_by", [])]}


@examples(60)
# By itself a list has five steps on average, too few for anything to go wrong.
@given(steps=st.lists(step, min_size=10, max_size=40))
def test_home_is_what_the_oracle_says(
    each_index: str, tiny_timelines: None, steps: list[tuple[str, int | None, int | None]]
) -> None:
    clean()
    history = History()
    for name, who, what in steps:
        history.run(name, who, what)
    history.check()
