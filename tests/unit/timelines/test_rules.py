"""Which entries a viewer may see. Plain values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.addressed import Addressed
from posts.ids import PostId
from relations.queries.relationships import Relationships
from relations.types import UNRELATED, Attribute, EdgeFlag, Relationship
from relations.visibility import Surface
from timelines import rules
from timelines.addressed import ALL_REPLIES, REPLIES_TO_FOLLOWEES
from timelines.rules import (
    RULES,
    Rule,
    VisibilityInputs,
    find_clear_authors,
    is_stale,
    is_visible_at_home,
    merge,
)
from timelines.types import Entry

ME, FRIEND, OTHER = 1, 2, 3
MINE, THEIRS, OTHERS = PostId(5, ME, 0), PostId(6, FRIEND, 0), PostId(4, OTHER, 0)
REPOSTS = {PostId(9, source, 0): b"" for source in (ME, FRIEND)}
PUBLIC = b'"visibility":"public"'
ALL = {MINE: PUBLIC, THEIRS: PUBLIC, OTHERS: PUBLIC, **REPOSTS}
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


def inputs(
    friend: Relationship = FOLLOWED, other: Relationship = UNRELATED, **known: object
) -> VisibilityInputs:
    relationships = Relationships.build(None, {FRIEND: friend, OTHER: other})
    everything = VisibilityInputs(ME, NOW, ALL, EVERYBODY, relationships, {}, ALL_REPLIES)
    return everything._replace(**known)


def without(values: dict, key: object) -> dict:
    return {k: v for k, v in values.items() if k != key}


@pytest.mark.parametrize(
    ("post", "known", "verdict"),
    [
        (MINE, inputs(), True),
        (MINE, inputs(fragments=without(ALL, MINE)), False),
        (THEIRS, inputs(), True),
        (THEIRS, inputs(QUIET), True),
        (THEIRS, inputs(SILENT), True),
        (THEIRS, inputs(UNRELATED), False),
        (THEIRS, inputs(FOLLOWS_ME), False),
        (THEIRS, inputs(BLOCKED), False),
        (THEIRS, inputs(FOLLOWED._replace(theirs=Attribute.BLACK)), False),
        (THEIRS, inputs(muted(FOLLOWED)), False),
        (THEIRS, inputs(muted(FOLLOWED, NOW + 1)), False),
        (THEIRS, inputs(muted(FOLLOWED, NOW)), True),
        (THEIRS, inputs(fragments=without(ALL, THEIRS)), False),
        (THEIRS, inputs(accounts=without(EVERYBODY, FRIEND)), False),
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
        (repost(FRIEND, OTHERS), inputs(), True),
        (repost(FRIEND, MINE), inputs(), True),
        (repost(ME, OTHERS), inputs(), True),
        (repost(ME, THEIRS), inputs(SILENT), True),
        (repost(FRIEND, THEIRS), inputs(SILENT), False),
        (repost(FRIEND, OTHERS), inputs(SILENT), False),
        (repost(FRIEND, MINE), inputs(SILENT), False),
        (repost(FRIEND, OTHERS), inputs(UNRELATED, FOLLOWED), False),
        (repost(FRIEND, OTHERS), inputs(muted(FOLLOWED)), False),
        (repost(FRIEND, OTHERS), inputs(other=muted(FOLLOWED)), False),
        (repost(FRIEND, OTHERS), inputs(other=muted(FOLLOWED, NOW)), True),
        (repost(FRIEND, OTHERS), inputs(other=BLOCKED), False),
        (repost(FRIEND, OTHERS), inputs(other=BLOCKS_ME), False),
        (repost(ME, OTHERS), inputs(other=BLOCKED), False),
        (repost(FRIEND, OTHERS), inputs(fragments=without(ALL, OTHERS)), False),
        (repost(FRIEND, OTHERS), inputs(accounts=without(EVERYBODY, OTHER)), False),
        (repost(FRIEND, OTHERS), inputs(fragments=without(ALL, PostId(9, FRIEND, 0))), False),
        (repost(ME, OTHERS), inputs(accounts=without(EVERYBODY, ME)), False),
        (repost(FRIEND, OTHERS), inputs(accounts=LIMITED), False),
        (repost(FRIEND, OTHERS), inputs(other=FOLLOWED, accounts=LIMITED), True),
        (repost(FRIEND, OTHERS), inputs(other=QUIET, accounts=LIMITED), True),
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
    known = inputs(fragments={**ALL, late.event: b""})
    entries = [repost(ME, OTHERS), late, Entry.of_post(THEIRS), repost(FRIEND, OTHERS)]
    brought = merge(entries, known)
    assert brought == {
        OTHERS: [late, repost(FRIEND, OTHERS), repost(ME, OTHERS)],
        THEIRS: [Entry.of_post(THEIRS)],
    }
    assert OTHERS not in merge(entries, inputs(other=BLOCKED))
    assert merge(entries, inputs(SILENT))[OTHERS] == [repost(ME, OTHERS)]


@pytest.mark.parametrize(
    ("entry", "known", "verdict"),
    [
        (Entry.of_post(MINE), inputs(), False),
        (Entry.of_post(MINE), inputs(fragments=without(ALL, MINE)), True),
        (Entry.of_post(THEIRS), inputs(), False),
        (Entry.of_post(THEIRS), inputs(muted(FOLLOWED)), False),
        (Entry.of_post(THEIRS), inputs(UNRELATED), True),
        (Entry.of_post(THEIRS), inputs(fragments=without(ALL, THEIRS)), True),
        (Entry(PostId(9, FRIEND, 0), OTHERS), inputs(SILENT, BLOCKED), False),
        (Entry(PostId(9, FRIEND, 0), OTHERS), inputs(fragments=without(ALL, OTHERS)), True),
        (Entry(PostId(9, ME, 0), OTHERS), inputs(fragments=without(ALL, OTHERS)), True),
    ],
    ids=[
        "own", "own deleted", "followed", "muted", "not followed", "deleted", "repost hidden twice",
        "repost of a deleted one", "own repost of a deleted one",
    ],
)  # fmt: skip
def test_dead_is_what_comes_back_by_nothing(entry, known, verdict):
    assert is_stale(entry, known) is verdict


@pytest.mark.parametrize("author", [ME, FRIEND])
def test_a_repost_whose_entry_lost_its_original_is_not_shown(author: int) -> None:
    """Its fragment alone is no JSON: a page with it would be broken."""
    alone = Entry.of_post(PostId(9, author, 0))
    known = inputs(fragments={**ALL, alone.event: b'>00000100000203"id":"1"'})
    assert merge([alone], known) == {}
    assert not is_visible_at_home(alone, known)
    assert is_stale(alone, known)


relationships = st.builds(
    Relationship,
    st.sampled_from(Attribute),
    st.sampled_from([EdgeFlag.NOTHING, EdgeFlag.HIDES_REPOSTS]),
    st.sampled_from(Attribute),
    st.booleans(),
    muted_until_ms=st.sampled_from([0, NOW, NOW + 1]),
)


addressings = st.dictionaries(
    st.sampled_from(sorted(ALL)),
    st.builds(
        Addressed,
        st.sampled_from([None, ME, FRIEND, OTHER]),
        st.lists(st.sampled_from([ME, FRIEND, OTHER])).map(tuple),
    ),
)


@given(relationships, relationships, addressings, st.sampled_from((Surface.HOME, Surface.LIST)))
def test_what_is_found_for_all_posts_at_once_is_what_is_found_for_each(
    friend, other, addressed, surface
):
    """Of Relationships.clear_follows, and of the posts that `merge` shows because of it."""
    known = inputs(friend, other, addressed=addressed, surface=surface)
    known = known._replace(replies=REPLIES_TO_FOLLOWEES)
    each = known._replace(relationships=known.relationships._replace(clear_follows=frozenset()))
    posts = [Entry.of_post(post_id) for post_id in (MINE, THEIRS, OTHERS, PostId(3, FRIEND, 0))]
    entries = [*posts, *(repost(source, OTHERS) for source in (ME, FRIEND))]
    visible = [entry for entry in entries if is_visible_at_home(entry, each)]
    assert visible == [entry for entry in entries if is_visible_at_home(entry, known)]
    brought = merge(entries, known)
    assert sorted(visible) == sorted(entry for by in brought.values() for entry in by)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.allows.__name__)
@given(relationships, relationships, st.sampled_from((Surface.HOME, Surface.LIST)))
def test_a_rule_allows_what_the_authors_that_it_clears_address_to_no_account(
    rule: Rule, friend: Relationship, other: Relationship, surface: Surface
) -> None:
    """So a page may show finished entities of these authors without asking the rule."""
    nothing = inputs(friend, other, surface=surface, fragments={}, accounts={})
    cleared = rule.clear_authors(nothing)
    known = nothing._replace(fragments=ALL, accounts=EVERYBODY)
    for post_id in (MINE, THEIRS, OTHERS):
        if cleared is None or post_id.author_id in cleared:
            assert rule.allows(Entry.of_post(post_id), known)


def test_a_rule_that_says_nothing_is_asked_for_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that is added later: no finished entity is shown without it."""
    hidden = Rule(lambda entry, _: entry.event != THEIRS)
    assert find_clear_authors(inputs()) == {ME, FRIEND}
    monkeypatch.setattr(rules, "RULES", (*RULES, hidden))
    assert find_clear_authors(inputs()) == set()
    assert merge([Entry.of_post(THEIRS), Entry.of_post(MINE)], inputs()) == {
        MINE: [Entry.of_post(MINE)]
    }
