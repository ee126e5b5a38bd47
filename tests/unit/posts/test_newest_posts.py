"""The list of an author's newest posts in process memory, against a plain list of all posts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.cache import newest
from posts.cache.newest import NewestPosts, PostRange
from posts.ids import PostId
from posts.queries.rows import ALL_KINDS, ListedPost
from posts.types import Kind

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


spans = st.builds(
    PostRange, st.integers(0, 31), st.integers(0, 32), st.integers(1, 5), st.booleans()
)
some_kinds = st.sampled_from([ALL_KINDS, (Kind.POST,), (Kind.POST, Kind.REPLY), (Kind.REPOST,)])


def expected(posts: list[ListedPost], span: PostRange, kinds: tuple[Kind, ...]) -> list[ListedPost]:
    inside = [p for p in posts if span.lower <= p.moment < span.upper and p.kind in kinds]
    return (inside if span.newest_first else inside[::-1])[: span.most]


def pair_of(post: ListedPost) -> tuple[PostId, PostId]:
    event = PostId.at(AUTHOR, post.moment)
    is_repost = post.kind == Kind.REPOST
    return event, PostId.at(OTHER, post.moment + 1) if is_repost else event


@given(posts=posts_of_author(), span=spans, kinds=some_kinds)
def test_it_answers_as_the_whole_list_or_not_at_all(
    posts: list[ListedPost], span: PostRange, kinds: tuple[Kind, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newest, "MOST_LISTED", MOST)
        listed = NewestPosts(AUTHOR, posts[: MOST + 1])
    found, right = listed.find(span, kinds), expected(posts, span, kinds)
    assert found in (None, [pair_of(post) for post in right])
    oldest_listed = posts[MOST - 1].moment if len(posts) > MOST else 0
    newest_ones = [post for post in right if post.moment >= oldest_listed]
    is_known = span.lower >= oldest_listed or (span.newest_first and len(newest_ones) == span.most)
    assert (found is not None) == is_known
