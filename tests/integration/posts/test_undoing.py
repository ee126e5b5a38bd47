"""An interaction can be undone on a post that one may not see any more, and shows nothing of it."""

from collections.abc import Callable

import pytest

from accounts.types import Restriction
from moderation.types import DecisionKind
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.models import ViewerMark
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.posts.interacting import STATUSES, do
from tests.people import decide_on
from tests.world import drain_all, make_accounts, restrict

UNDOING = {
    "favourite": "unfavourite",
    "bookmark": "unbookmark",
    "reblog": "unreblog",
    "mute": "unmute",
}
SECRET = "nothing of it"


def end_following(caller: Caller, post: PostId) -> None:
    assert caller.post(f"/api/v1/accounts/{post.author_id}/unfollow").status_code == 200


def be_blocked(caller: Caller, post: PostId) -> None:
    block(post.author_id, int(caller.get("/api/v1/accounts/verify_credentials").json()["id"]))


def be_limited(caller: Caller, post: PostId) -> None:
    end_following(caller, post)
    restrict(post.author_id, Restriction.LIMITED)


LOSSES: dict[str, Callable[[Caller, PostId], object]] = {
    "deleted": lambda _, post: delete_post(post),
    "hidden": lambda _, post: decide_on(post, DecisionKind.HIDE),
    "suspended": lambda _, post: restrict(post.author_id, Restriction.SUSPENDED),
    "blocked": be_blocked,
    "limited": be_limited,
    "not followed": end_following,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_every_undo_works_on_a_post_that_is_out_of_sight(world: None, loss: str) -> None:
    me, author = make_accounts(2)
    follow(me, author)
    drain_all()
    caller, is_closed = Caller(me), loss == "not followed"
    visibility = Visibility.PRIVATE if is_closed else Visibility.PUBLIC
    post = create_post(author, Draft(SECRET, visibility=visibility))
    # A closed post cannot be reposted, and the drain ends the reposts of a deleted one.
    acts = [act for act in UNDOING if act != "reblog" or loss not in ("not followed", "deleted")]
    for act in acts:
        do(caller, act, post.public)
    drain_all()
    LOSSES[loss](caller, post)
    drain_all()
    for act in acts:
        assert caller.get(f"{STATUSES}/{post.public}").status_code == 404
        undone = do(caller, UNDOING[act], post.public)
        assert (undone["id"], undone["muted"]) == (post.public, act != "mute" and "mute" in acts)
        assert SECRET not in undone["content"]
        do(caller, UNDOING[act], post.public, status=404)  # nothing to undo
    assert (
        not ViewerMark.objects.of(me)
        .filter(is_on=True, kind__in=(Kind.FAVOURITE, Kind.BOOKMARK, Kind.THREAD_MUTE))
        .exists()
    )
