"""Hidden posts, limited and frozen accounts, and warnings."""

from collections.abc import Callable

import pytest

from accounts.queries import tokens, viewers
from accounts.queries.viewers import find_viewer
from accounts.types import Restriction
from infra.changes.failpoints import arm, disarm
from moderation.actions.decide import decide_on_post
from moderation.errors import DecisionNeedsReason, PostIsDeleted
from moderation.models import Decision
from moderation.types import DecisionKind, DecisionOrigin
from posts.actions.delete_post import delete_post
from posts.errors import PostNotFound
from posts.ids import PostId
from relations.actions.follow import follow
from tests.callers import Caller, token_of
from tests.integration.moderation.test_suspended import (
    backfill,
    flush,
    rebuild,
    replay,
    restart,
    vacuum,
)
from tests.people import Community, Visitor, decide, decide_on
from tests.truth import assert_drained_truth, counts
from tests.world import drain_all, publish

EVERYTHING = [rebuild, vacuum, replay, flush, restart, backfill]


def test_a_hidden_post_is_nowhere_and_comes_back(community: Community) -> None:
    post, visitor = community.friends, Visitor(community.me)
    path = f"/api/v1/statuses/{post.public}"
    without = [community.answer.public, community.repost_of_theirs.public]
    assert community.home() == community.whole_home
    before = counts()
    decide_on(post, DecisionKind.HIDE)
    assert community.home() == without
    for reader in (visitor, Visitor(community.friend), Visitor()):
        assert reader.status_of(path) == 404
        assert post.public not in reader.ids_at(f"/api/v1/accounts/{community.friend}/statuses")
        assert post.public not in reader.ids_at("/api/v1/timelines/public")
    answer = f"/api/v1/statuses/{community.answer.public}/context"
    assert visitor.caller.get(answer).json()["ancestors"] == []
    drain_all()
    assert counts() == before
    decide_on(post, DecisionKind.SHOW)
    assert community.home() == community.whole_home
    assert visitor.status_of(path) == 200
    assert_drained_truth()


@pytest.mark.parametrize("what", EVERYTHING)
def test_it_stays_hidden_whatever_is_run(
    community: Community, what: Callable[[Community], None]
) -> None:
    without = [community.answer.public, community.repost_of_theirs.public]
    decide_on(community.friends, DecisionKind.HIDE)
    drain_all()
    what(community)
    assert community.home() == without
    drain_all()
    assert community.home() == without
    decide_on(community.friends, DecisionKind.SHOW)
    what(community)
    assert community.home() == community.whole_home


def test_its_words_are_not_told_to_who_takes_a_favourite_back(community: Community) -> None:
    decide_on(community.theirs, DecisionKind.HIDE)
    path = f"/api/v1/statuses/{community.theirs.public}/unfavourite"
    answer = Caller(community.friend).post(path)
    assert answer.status_code == 200
    assert "hello" not in answer.json()["content"]


def test_its_author_may_delete_it_and_then_it_stays_gone(community: Community) -> None:
    decide_on(community.theirs, DecisionKind.HIDE)
    assert delete_post(community.theirs) == "hello"
    decide_on(community.theirs, DecisionKind.SHOW)
    assert Visitor().status_of(f"/api/v1/statuses/{community.theirs.public}") == 404
    drain_all()
    assert_drained_truth()


def test_deleting_a_post_is_for_good(community: Community) -> None:
    decide_on(community.friends, DecisionKind.DELETE)
    assert community.friends.public not in community.home()
    with pytest.raises(PostIsDeleted):
        decide_on(community.friends, DecisionKind.SHOW)
    drain_all()
    assert_drained_truth()


def test_twice_is_once_and_a_reason_is_asked(community: Community) -> None:
    assert decide_on(community.theirs, DecisionKind.SHOW) is None
    assert decide_on(community.theirs, DecisionKind.HIDE) is not None
    assert decide_on(community.theirs, DecisionKind.HIDE) is None
    assert decide(community.moderated, DecisionKind.LIMIT) is not None
    assert decide(community.moderated, DecisionKind.LIMIT) is None
    assert Decision.objects.count() == 2
    with pytest.raises(DecisionNeedsReason):
        decide_on_post(community.friends, DecisionKind.HIDE, DecisionOrigin(None, "  "))
    with pytest.raises(PostNotFound):
        decide_on(PostId(1, community.me, 1), DecisionKind.HIDE)


def test_a_limited_account_is_for_its_followers(community: Community) -> None:
    post = f"/api/v1/statuses/{community.theirs.public}"
    posts = f"/api/v1/accounts/{community.moderated}/statuses"
    decide(community.moderated, DecisionKind.LIMIT)
    follower, own = Visitor(community.me), Visitor(community.moderated)
    for visitor in (follower, own):
        assert visitor.status_of(post) == 200
        assert community.theirs.public in visitor.ids_at(posts)
    assert community.home() == community.whole_home
    for visitor in (Visitor(community.unrelated), Visitor()):
        assert visitor.status_of(post) == 404
        assert visitor.ids_at(posts) == []
        context = visitor.caller.get(f"/api/v1/statuses/{community.friends.public}/context").json()
        assert context["descendants"] == []
    for visitor in (follower, own, Visitor(community.unrelated), Visitor()):
        assert community.theirs.public not in visitor.ids_at("/api/v1/timelines/public")
        person = visitor.caller.get(f"/api/v1/accounts/{community.moderated}").json()
        assert person["limited"] is True
    decide(community.moderated, DecisionKind.RESTORE)
    assert Visitor(community.unrelated).status_of(post) == 200
    restored = Visitor().caller.get(f"/api/v1/accounts/{community.moderated}").json()
    assert restored["limited"] is False


def test_reposts_of_a_limited_author_reach_followers_only(community: Community) -> None:
    follow(community.unrelated, community.friend)
    drain_all()
    unrelated = Visitor(community.unrelated)
    home = "/api/v1/timelines/home"
    assert community.repost_of_theirs.public in unrelated.ids_at(home)
    decide(community.moderated, DecisionKind.LIMIT)
    assert unrelated.ids_at(home) == [community.friends.public]
    follow(community.unrelated, community.moderated)
    assert community.repost_of_theirs.public in unrelated.ids_at(home)


def test_a_frozen_account_reads_and_writes_nothing(community: Community) -> None:
    caller = Caller(community.moderated)
    status = {"status": "more"}
    assert caller.get("/api/v1/timelines/home").status_code == 200
    decide(community.moderated, DecisionKind.FREEZE)
    refused = [
        caller.post("/api/v1/statuses", status),
        caller.post(f"/api/v1/accounts/{community.unrelated}/follow"),
        caller.post(f"/api/v1/statuses/{community.friends.public}/favourite"),
        caller.delete(f"/api/v1/statuses/{community.theirs.public}"),
        caller.post("/api/v1/markers", {"home": {"last_read_id": community.theirs.public}}),
    ]
    error = {"error": "Your account is frozen: you can read, but not write"}
    assert [(one.status_code, one.json()) for one in refused] == [(403, error)] * len(refused)
    assert caller.get("/api/v1/timelines/home").status_code == 200
    asked = caller.post("/api/v1/accounts/followed_by", {"id": [str(community.friend)]})
    assert asked.json() == [str(community.friend)]
    assert community.home() == community.whole_home
    decide(community.moderated, DecisionKind.RESTORE)
    assert caller.post("/api/v1/statuses", status).status_code == 200


def test_a_token_read_before_the_freezing_is_not_laid_after(community: Community) -> None:
    token = token_of(community.moderated)

    def freeze() -> None:
        disarm("accounts.token_loaded")
        decide(community.moderated, DecisionKind.FREEZE)

    arm("accounts.token_loaded", freeze)
    find_viewer(token)
    checksum = next(iter(tokens.load_tokens_by_user([community.moderated])))
    viewers._viewers.pop(checksum, None)
    viewer = find_viewer(token)
    assert viewer is not None
    assert viewer.is_frozen


def test_acts_add_up_and_restoring_ends_them_all(community: Community) -> None:
    decide(community.moderated, DecisionKind.LIMIT)
    decide(community.moderated, DecisionKind.FREEZE)
    decide(community.moderated, DecisionKind.WARN)
    done = decide(community.moderated, DecisionKind.SUSPEND)
    assert done is not None
    assert done.restrictions == 7
    restored = decide(community.moderated, DecisionKind.RESTORE, lifted=Restriction.SUSPENDED)
    assert restored is not None
    assert restored.restrictions == 3
    assert decide(community.moderated, DecisionKind.RESTORE).restrictions == 0  # type: ignore[union-attr]
    drain_all()
    assert community.home() == community.whole_home


def test_a_warning_is_a_record_and_nothing_else(community: Community) -> None:
    decide(community.moderated, DecisionKind.WARN)
    assert community.home() == community.whole_home
    strikes = Caller(community.moderated).get("/api/v1/strikes").json()
    assert [(one["action"], one["text"]) for one in strikes] == [("none", "spam")]


def test_late_posts_of_a_hidden_week_do_not_bring_it_back(community: Community) -> None:
    decide_on(community.theirs, DecisionKind.HIDE)
    publish(community.moderated)
    drain_all()
    assert community.repost_of_theirs.public not in community.home()
