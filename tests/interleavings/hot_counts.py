"""Histories of counts that are written very often: their moves are postponed, and folded later.

Some actors write rows without the caches, so that no error of theirs is swallowed. So the rows are
compared, and not what is cached.
"""

from collections.abc import Sequence
from functools import partial

from counters.hot_counts import HOT_WRITES_S, find_hot_counts
from counters.jobs.drifting_counts import repair
from counters.kinds import CounterKind
from counters.types import ACCOUNT
from infra.sharding.buckets import shard_of
from posts.actions import record_responses
from posts.actions.mark_post import mark_post
from posts.ids import PostId
from posts.queries.responses import read_mark_responses
from posts.types import Kind, ResponseRow
from relations.actions.block import block
from relations.actions.fold_followers import fold_follower_moves
from relations.actions.follow import follow, unfollow
from relations.actions.mirror import mirror_on_shard
from relations.errors import CannotFollowBlocked
from relations.queries.edges import get_edge
from tests.integration.counters.drifting import spoil
from tests.interleavings.acts import in_order
from tests.interleavings.exploring import Play
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts, publish


def block_and_fold() -> Play:
    """An account blocks a follower whose move is folded, and the follower comes and goes."""
    star, fan, _ = _make_star()
    return Play(
        (),
        {
            "fan": in_order(partial(unfollow, fan, star), partial(follow, fan, star)),
            "block": partial(block, star, fan),
            "fold": partial(fold_follower_moves, shard_of(star), [star]),
        },
        (CannotFollowBlocked,),
        check=_assert_true_when_drained,
    )


def mirrors_and_fold() -> Play:
    """The ends of two follows are mirrored together while their begins are folded."""
    star, *fans = _make_star()
    for fan in fans:
        unfollow(fan, star)
    edges = {(fan, star): get_edge(shard_of(fan), fan, star) for fan in fans}
    alias, hot = shard_of(star), [(star, ACCOUNT)]
    return Play(
        (),
        {
            "drain": partial(mirror_on_shard, alias, edges, hot=hot),
            "block": partial(block, star, fans[0]),
            "fold": partial(fold_follower_moves, alias, [star]),
        },
        check=_assert_true_when_drained,
    )


def block_and_recount() -> Play:
    """Several counts of an account are counted again while it blocks and is blocked."""
    people = star, fan, other = make_accounts(3)
    for one, another in ((star, fan), (fan, star), (other, star), (star, other)):
        follow(one, another)
    drain_all()
    for kind in (CounterKind.FOLLOWERS, CounterKind.FOLLOWING):
        spoil(star, kind, 1)
    return Play(
        people,
        {
            "recount": partial(repair, shard_of(star), star),
            "their block": partial(block, other, star),
            "block": partial(block, star, fan),
        },
    )


def responses_and_fold() -> Play:
    """Favourites of a hot post and of one that just becomes hot, while both are folded."""
    author, *fans = make_accounts(3)
    cold, hot = posts = [publish(author), publish(author)]
    drain_all()
    _heat(author, hot.moment)
    mark_post(fans[0], hot, Kind.FAVOURITE, True)
    mark_post(fans[0], hot, Kind.FAVOURITE, False)
    for fan in fans:
        mark_post(fan, cold, Kind.FAVOURITE, True)
    mine, theirs = (_read_responses(fan, posts) for fan in fans)
    record = partial(record_responses.write_responses, shard_of(author))
    return Play(
        (),
        {
            "drain": partial(record, mine, hot=[(author, hot.moment)]),
            "request": partial(record, theirs, hot=[(author, cold.moment)]),
            "fold": partial(record_responses.fold_response_moves, shard_of(author), posts),
        },
        check=_assert_true_when_drained,
    )


def _make_star() -> list[int]:
    """An account that two others follow. The moves of its followers count are postponed."""
    star, *fans = people = make_accounts(3)
    _heat(star, ACCOUNT)
    for fan in fans:
        follow(fan, star)
    return people


def _heat(owner_id: int, subject: int) -> None:
    """As if many accounts had just written this count."""
    for _ in range(HOT_WRITES_S + 1):
        find_hot_counts([(owner_id, subject)])


def _assert_true_when_drained() -> None:
    drain_all()
    assert_drained_truth()


def _read_responses(fan: int, posts: Sequence[PostId]) -> list[ResponseRow]:
    """The favourites of these posts, from the shard of the fan."""
    marks = {(fan, post.moment, post.author_id, Kind.FAVOURITE) for post in posts}
    return list(read_mark_responses(shard_of(fan), marks))
