"""The list of an author's newest posts in process memory, against a plain list of all posts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.cache import newest
from posts.cache.newest import NewestPosts
from posts.ids import PostId
from posts.queries.rows import ALL_KINDS, ListedPost
from posts.types import Kind, PostRange

AUTHOR, OTHER = 7, 8
MOST = 4


@st.composite
def posts_of_author(draw: st.DrawFn) -> list[ListedPost]:
    """Newest first."""
    moments = draw(st.lists(st.integers(0, 30), unique=True, max_size=9))
    kinds = st.sampled_from(ALL_KINDS)
    return [_listed(moment, draw(kinds)) for moment in sorted(moments, reverse=True)]


def _listed(moment: int, kind: Kind) -> ListedPost:
    return ListedPost(moment, kind, *((None, None) if kind == Kind.POST else (OTHER, moment + 1)))


post_ranges = st.builds(
    PostRange, st.integers(0, 31), st.integers(0, 32), st.integers(1, 5), st.booleans()
)
some_kinds = st.sampled_from([ALL_KINDS, (Kind.POST,), (Kind.POST, Kind.REPLY), (Kind.REPOST,)])


def expected(
    posts: list[ListedPost], wanted: PostRange, kinds: tuple[Kind, ...]
) -> list[ListedPost]:
    inside = [p for p in posts if wanted.lower <= p.moment < wanted.upper and p.kind in kinds]
    return (inside if wanted.newest_first else inside[::-1])[: wanted.most]


def pair_of(post: ListedPost) -> tuple[PostId, PostId]:
    event = PostId.at(AUTHOR, post.moment)
    is_repost = post.kind == Kind.REPOST
    return event, PostId.at(OTHER, post.moment + 1) if is_repost else event


@given(posts=posts_of_author(), wanted=post_ranges, kinds=some_kinds)
def test_it_answers_as_the_whole_list_or_not_at_all(
    posts: list[ListedPost], wanted: PostRange, kinds: tuple[Kind, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newest, "MOST_LISTED", MOST)
        listed = NewestPosts(AUTHOR, posts[: MOST + 1])
    found, right = listed.find(wanted, kinds), expected(posts, wanted, kinds)
    assert found in (None, [pair_of(post) for post in right])
    oldest_listed = posts[MOST - 1].moment if len(posts) > MOST else 0
    newest_ones = [post for post in right if post.moment >= oldest_listed]
    is_known = wanted.lower >= oldest_listed or (
        wanted.newest_first and len(newest_ones) == wanted.most
    )
    assert (found is not None) == is_known
