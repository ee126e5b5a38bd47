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
from tests.integration.moderation.people import Circle, Eyes, decide, decide_on
from tests.integration.moderation.test_suspended import (
    backfill,
    flush,
    rebuild,
    replay,
    restart,
    vacuum,
)
from tests.truth import assert_drained_truth, counts
from tests.world import drain_all, publish

EVERYTHING = [rebuild, vacuum, replay, flush, restart, backfill]


@pytest.fixture
def circle(world: None) -> Circle:
    return Circle()


def test_a_hidden_post_is_nowhere_and_comes_back(circle: Circle) -> None:
    post, eyes = circle.friends, Eyes(circle.me)
    path = f"/api/v1/statuses/{post.public}"
    without = [circle.answer.public, circle.repost_of_theirs.public]
    assert circle.home() == circle.whole_home
    before = counts()
    decide_on(post, DecisionKind.HIDE)
    assert circle.home() == without
    for reader in (eyes, Eyes(circle.friend), Eyes()):
        assert reader.status_of(path) == 404
        assert post.public not in reader.ids_at(f"/api/v1/accounts/{circle.friend}/statuses")
        assert post.public not in reader.ids_at("/api/v1/timelines/public")
    answer = f"/api/v1/statuses/{circle.answer.public}/context"
    assert eyes.caller.get(answer).json()["ancestors"] == []
    drain_all()
    assert counts() == before
    decide_on(post, DecisionKind.SHOW)
    assert circle.home() == circle.whole_home
    assert eyes.status_of(path) == 200
    assert_drained_truth()


@pytest.mark.parametrize("what", EVERYTHING)
def test_it_stays_hidden_whatever_is_run(circle: Circle, what: Callable[[Circle], None]) -> None:
    without = [circle.answer.public, circle.repost_of_theirs.public]
    decide_on(circle.friends, DecisionKind.HIDE)
    drain_all()
    what(circle)
    assert circle.home() == without
    drain_all()
    assert circle.home() == without
    decide_on(circle.friends, DecisionKind.SHOW)
    what(circle)
    assert circle.home() == circle.whole_home


def test_its_words_are_not_told_to_who_takes_a_favourite_back(circle: Circle) -> None:
    decide_on(circle.theirs, DecisionKind.HIDE)
    path = f"/api/v1/statuses/{circle.theirs.public}/unfavourite"
    answer = Caller(circle.friend).post(path)
    assert answer.status_code == 200
    assert "hello" not in answer.json()["content"]


def test_its_author_may_delete_it_and_then_it_stays_gone(circle: Circle) -> None:
    decide_on(circle.theirs, DecisionKind.HIDE)
    assert delete_post(circle.theirs) == "hello"
    decide_on(circle.theirs, DecisionKind.SHOW)
    assert Eyes().status_of(f"/api/v1/statuses/{circle.theirs.public}") == 404
    drain_all()
    assert_drained_truth()


def test_deleting_a_post_is_for_good(circle: Circle) -> None:
    decide_on(circle.friends, DecisionKind.DELETE)
    assert circle.friends.public not in circle.home()
    with pytest.raises(PostIsDeleted):
        decide_on(circle.friends, DecisionKind.SHOW)
    drain_all()
    assert_drained_truth()


def test_twice_is_once_and_a_reason_is_asked(circle: Circle) -> None:
    assert decide_on(circle.theirs, DecisionKind.SHOW) is None
    assert decide_on(circle.theirs, DecisionKind.HIDE) is not None
    assert decide_on(circle.theirs, DecisionKind.HIDE) is None
    assert decide(circle.judged, DecisionKind.LIMIT) is not None
    assert decide(circle.judged, DecisionKind.LIMIT) is None
    assert Decision.objects.count() == 2
    with pytest.raises(DecisionNeedsReason):
        decide_on_post(circle.friends, DecisionKind.HIDE, DecisionOrigin(None, "  "))
    with pytest.raises(PostNotFound):
        decide_on(PostId(1, circle.me, 1), DecisionKind.HIDE)


def test_a_limited_account_is_for_its_followers(circle: Circle) -> None:
    post = f"/api/v1/statuses/{circle.theirs.public}"
    posts = f"/api/v1/accounts/{circle.judged}/statuses"
    decide(circle.judged, DecisionKind.LIMIT)
    follower, own = Eyes(circle.me), Eyes(circle.judged)
    for eyes in (follower, own):
        assert eyes.status_of(post) == 200
        assert circle.theirs.public in eyes.ids_at(posts)
    assert circle.home() == circle.whole_home
    for eyes in (Eyes(circle.stranger), Eyes()):
        assert eyes.status_of(post) == 404
        assert eyes.ids_at(posts) == []
        context = eyes.caller.get(f"/api/v1/statuses/{circle.friends.public}/context").json()
        assert context["descendants"] == []
    for eyes in (follower, own, Eyes(circle.stranger), Eyes()):
        assert circle.theirs.public not in eyes.ids_at("/api/v1/timelines/public")
        person = eyes.caller.get(f"/api/v1/accounts/{circle.judged}").json()
        assert person["limited"] is True
    decide(circle.judged, DecisionKind.RESTORE)
    assert Eyes(circle.stranger).status_of(post) == 200
    assert "limited" not in Eyes().caller.get(f"/api/v1/accounts/{circle.judged}").json()


def test_reposts_of_a_limited_author_reach_followers_only(circle: Circle) -> None:
    follow(circle.stranger, circle.friend)
    drain_all()
    stranger = Eyes(circle.stranger)
    home = "/api/v1/timelines/home"
    assert circle.repost_of_theirs.public in stranger.ids_at(home)
    decide(circle.judged, DecisionKind.LIMIT)
    assert stranger.ids_at(home) == [circle.friends.public]
    follow(circle.stranger, circle.judged)
    assert circle.repost_of_theirs.public in stranger.ids_at(home)


def test_a_frozen_account_reads_and_writes_nothing(circle: Circle) -> None:
    caller = Caller(circle.judged)
    status = {"status": "more"}
    assert caller.get("/api/v1/timelines/home").status_code == 200
    decide(circle.judged, DecisionKind.FREEZE)
    refused = [
        caller.post("/api/v1/statuses", status),
        caller.post(f"/api/v1/accounts/{circle.stranger}/follow"),
        caller.post(f"/api/v1/statuses/{circle.friends.public}/favourite"),
        caller.delete(f"/api/v1/statuses/{circle.theirs.public}"),
        caller.post("/api/v1/markers", {"home": {"last_read_id": circle.theirs.public}}),
    ]
    error = {"error": "Your account is frozen: you can read, but not write"}
    assert [(one.status_code, one.json()) for one in refused] == [(403, error)] * len(refused)
    assert caller.get("/api/v1/timelines/home").status_code == 200
    asked = caller.post("/api/v1/accounts/followed_by", {"id": [str(circle.friend)]})
    assert asked.json() == [str(circle.friend)]
    assert circle.home() == circle.whole_home
    decide(circle.judged, DecisionKind.RESTORE)
    assert caller.post("/api/v1/statuses", status).status_code == 200


def test_a_token_read_before_the_freezing_is_not_laid_after(circle: Circle) -> None:
    token = token_of(circle.judged)

    def freeze() -> None:
        disarm("accounts.token_loaded")
        decide(circle.judged, DecisionKind.FREEZE)

    arm("accounts.token_loaded", freeze)
    find_viewer(token)
    checksum = next(iter(tokens.load_tokens_by_user([circle.judged])))
    viewers._known.forget([checksum])
    viewer = find_viewer(token)
    assert viewer is not None
    assert viewer.is_frozen


def test_acts_add_up_and_restoring_ends_them_all(circle: Circle) -> None:
    decide(circle.judged, DecisionKind.LIMIT)
    decide(circle.judged, DecisionKind.FREEZE)
    decide(circle.judged, DecisionKind.WARN)
    done = decide(circle.judged, DecisionKind.SUSPEND)
    assert done is not None
    assert done.restrictions == 7
    restored = decide(circle.judged, DecisionKind.RESTORE, lifted=Restriction.SUSPENDED)
    assert restored is not None
    assert restored.restrictions == 3
    assert decide(circle.judged, DecisionKind.RESTORE).restrictions == 0  # type: ignore[union-attr]
    drain_all()
    assert circle.home() == circle.whole_home


def test_a_warning_is_a_record_and_nothing_else(circle: Circle) -> None:
    decide(circle.judged, DecisionKind.WARN)
    assert circle.home() == circle.whole_home
    strikes = Caller(circle.judged).get("/api/v1/strikes").json()
    assert [(one["action"], one["text"]) for one in strikes] == [("none", "spam")]


def test_late_posts_of_a_hidden_week_do_not_bring_it_back(circle: Circle) -> None:
    decide_on(circle.theirs, DecisionKind.HIDE)
    publish(circle.judged)
    drain_all()
    assert circle.repost_of_theirs.public not in circle.home()
