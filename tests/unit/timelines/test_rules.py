"""May the viewer see it? Plain values in, verdicts out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.ids import PostId
from relations.queries.relationships import Relationships
from relations.types import UNRELATED, Attribute, EdgeFlag, Relationship
from timelines.rules import VisibilityInputs, is_stale, is_visible_at_home, merge
from timelines.types import Entry

ME, FRIEND, OTHER = 1, 2, 3
MINE, THEIRS, OTHERS = PostId(5, ME, 0), PostId(6, FRIEND, 0), PostId(4, OTHER, 0)
REPOSTS = {PostId(9, source, 0): b"" for source in (ME, FRIEND)}
ALL = {MINE: b"", THEIRS: b"", OTHERS: b"", **REPOSTS}
EVERYBODY = {ME: b"", FRIEND: b"", OTHER: b""}
NOW = 1_000
FOLLOWED = Relationship(mine=Attribute.FOLLOW)
QUIET = Relationship(mine=Attribute.WHISPER)
SILENT = Relationship(mine=Attribute.FOLLOW, flags=EdgeFlag.HIDES_REPOSTS)
BLOCKED = Relationship(mine=Attribute.BLACK)
BLOCKS_ME = Relationship(theirs=Attribute.BLACK)
FOLLOWS_ME = Relationship(theirs=Attribute.FOLLOW)


# As the cached profile of an account begins that only its followers see.
LIMITED = {**EVERYBODY, OTHER: b'{"limited":true,"id":"3"}'}


def muted(relationship: Relationship, until_ms: int = 0) -> Relationship:
    return relationship._replace(is_muted=True, muted_until_ms=until_ms)


def facts(
    friend: Relationship = FOLLOWED, other: Relationship = UNRELATED, **known: object
) -> VisibilityInputs:
    everything = VisibilityInputs(
        ME, NOW, ALL, EVERYBODY, Relationships.build(None, {FRIEND: friend, OTHER: other})
    )
    return everything._replace(**known)


def without(values: dict, key: object) -> dict:
    return {k: v for k, v in values.items() if k != key}


@pytest.mark.parametrize(
    ("post", "known", "verdict"),
    [
        (MINE, facts(), True),
        (MINE, facts(fragments=without(ALL, MINE)), False),
        (THEIRS, facts(), True),
        (THEIRS, facts(QUIET), True),
        (THEIRS, facts(SILENT), True),
        (THEIRS, facts(UNRELATED), False),
        (THEIRS, facts(FOLLOWS_ME), False),
        (THEIRS, facts(BLOCKED), False),
        (THEIRS, facts(FOLLOWED._replace(theirs=Attribute.BLACK)), False),
        (THEIRS, facts(muted(FOLLOWED)), False),
        (THEIRS, facts(muted(FOLLOWED, NOW + 1)), False),
        (THEIRS, facts(muted(FOLLOWED, NOW)), True),
        (THEIRS, facts(fragments=without(ALL, THEIRS)), False),
        (THEIRS, facts(accounts=without(EVERYBODY, FRIEND)), False),
    ],
    ids=[
        "own", "own deleted", "followed", "quietly followed", "followed, reposts hidden",
        "not followed", "only follows me", "blocked", "blocks me", "muted", "muted a while longer",
        "mute over", "deleted", "author gone",
    ],
)  # fmt: skip
def test_posts_of_those_i_follow_and_my_own(
    post: PostId, known: VisibilityInputs, verdict: bool
) -> None:
    assert is_visible_at_home(Entry.of_post(post), known) is verdict


def repost(source: int, original: PostId) -> Entry:
    return Entry(PostId(9, source, 0), original)


@pytest.mark.parametrize(
    ("entry", "known", "verdict"),
    [
        (repost(FRIEND, OTHERS), facts(), True),
        (repost(FRIEND, MINE), facts(), True),
        (repost(ME, OTHERS), facts(), True),
        (repost(ME, THEIRS), facts(SILENT), True),
        (repost(FRIEND, THEIRS), facts(SILENT), False),
        (repost(FRIEND, OTHERS), facts(SILENT), False),
        (repost(FRIEND, MINE), facts(SILENT), False),
        (repost(FRIEND, OTHERS), facts(UNRELATED, FOLLOWED), False),
        (repost(FRIEND, OTHERS), facts(muted(FOLLOWED)), False),
        (repost(FRIEND, OTHERS), facts(other=muted(FOLLOWED)), False),
        (repost(FRIEND, OTHERS), facts(other=muted(FOLLOWED, NOW)), True),
        (repost(FRIEND, OTHERS), facts(other=BLOCKED), False),
        (repost(FRIEND, OTHERS), facts(other=BLOCKS_ME), False),
        (repost(ME, OTHERS), facts(other=BLOCKED), False),
        (repost(FRIEND, OTHERS), facts(fragments=without(ALL, OTHERS)), False),
        (repost(FRIEND, OTHERS), facts(accounts=without(EVERYBODY, OTHER)), False),
        (repost(FRIEND, OTHERS), facts(fragments=without(ALL, PostId(9, FRIEND, 0))), False),
        (repost(ME, OTHERS), facts(accounts=without(EVERYBODY, ME)), False),
        (repost(FRIEND, OTHERS), facts(accounts=LIMITED), False),
        (repost(FRIEND, OTHERS), facts(other=FOLLOWED, accounts=LIMITED), True),
        (repost(FRIEND, OTHERS), facts(other=QUIET, accounts=LIMITED), True),
    ],
    ids=[
        "of a stranger", "of me", "by me", "by me of one whose reposts I hide",
        "of their own", "hidden", "hidden, of me", "by a stranger", "by one I mute",
        "of one I mute", "of one I muted", "of one I block", "of one who blocks me",
        "by me of one I block", "deleted", "author gone", "taken back", "source gone",
        "of a limited one", "of a limited one I follow", "of a limited one I follow quietly",
    ],
)  # fmt: skip
def test_reposts(entry: Entry, known: VisibilityInputs, verdict: bool) -> None:
    assert is_visible_at_home(entry, known) is verdict


def test_a_post_is_brought_by_all_who_may_be_seen_the_newest_first() -> None:
    late = Entry(PostId(12, ME, 1), OTHERS)
    known = facts(fragments={**ALL, late.event: b""})
    entries = [repost(ME, OTHERS), late, Entry.of_post(THEIRS), repost(FRIEND, OTHERS)]
    brought = merge(entries, known)
    assert brought == {
        OTHERS: [late, repost(FRIEND, OTHERS), repost(ME, OTHERS)],
        THEIRS: [Entry.of_post(THEIRS)],
    }
    assert OTHERS not in merge(entries, facts(other=BLOCKED))
    assert merge(entries, facts(SILENT))[OTHERS] == [repost(ME, OTHERS)]


@pytest.mark.parametrize(
    ("entry", "known", "verdict"),
    [
        (Entry.of_post(MINE), facts(), False),
        (Entry.of_post(MINE), facts(fragments=without(ALL, MINE)), True),
        (Entry.of_post(THEIRS), facts(), False),
        (Entry.of_post(THEIRS), facts(muted(FOLLOWED)), False),
        (Entry.of_post(THEIRS), facts(UNRELATED), True),
        (Entry.of_post(THEIRS), facts(fragments=without(ALL, THEIRS)), True),
        (Entry(PostId(9, FRIEND, 0), OTHERS), facts(SILENT, BLOCKED), False),
        (Entry(PostId(9, FRIEND, 0), OTHERS), facts(fragments=without(ALL, OTHERS)), True),
        (Entry(PostId(9, ME, 0), OTHERS), facts(fragments=without(ALL, OTHERS)), True),
    ],
    ids=[
        "own", "own deleted", "followed", "muted", "not followed", "deleted", "repost hidden twice",
        "repost of a deleted one", "own repost of a deleted one",
    ],
)  # fmt: skip
def test_dead_is_what_comes_back_by_nothing(entry, known, verdict):
    assert is_stale(entry, known) is verdict


relationships = st.builds(
    Relationship,
    st.sampled_from(Attribute),
    st.sampled_from([EdgeFlag.NOTHING, EdgeFlag.HIDES_REPOSTS]),
    st.sampled_from(Attribute),
    st.booleans(),
    muted_until_ms=st.sampled_from([0, NOW, NOW + 1]),
)


@given(relationships, relationships, st.sampled_from([None, set()]))
def test_what_is_found_for_all_posts_at_once_is_what_is_found_for_each(friend, other, replies_to):
    """Of Relationships.clear_follows, and of the posts that `merge` shows because of it."""
    known = facts(friend, other, replies_to=replies_to)
    each = known._replace(relationships=known.relationships._replace(clear_follows=frozenset()))
    posts = [Entry.of_post(post_id) for post_id in (MINE, THEIRS, OTHERS, PostId(3, FRIEND, 0))]
    entries = [*posts, *(repost(source, OTHERS) for source in (ME, FRIEND))]
    visible = [entry for entry in entries if is_visible_at_home(entry, each)]
    assert visible == [entry for entry in entries if is_visible_at_home(entry, known)]
    brought = merge(entries, known)
    assert sorted(visible) == sorted(entry for by in brought.values() for entry in by)
