"""Where promotions may be on a page, and audiences: plain values.

Which posts home and lists show, by the accounts that they address: states and surfaces.
"""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.types import HOME_REPLIES
from infra.api.ids import MAX_ACCOUNT_ID
from posts.addressed import Addressed, find_addressed
from posts.fragments.present import encode_post
from posts.fragments.read import find_replied_to
from posts.ids import SEQUENCES, PostId
from posts.types import Kind, PostRow
from relations.queries.relationships import Relationships
from relations.types import UNRELATED, Attribute, Relationship
from relations.visibility import Surface
from timelines.addressed import HOME_SCOPES, ReplyScope, shows_addressed
from timelines.promotions.rules import MOST_OFFERED, choose_offered, is_in_audience
from timelines.promotions.slotting import id_below, list_anchors
from timelines.promotions.types import Ad, CampaignKind, RunningCampaign
from timelines.rules import VisibilityInputs, is_visible_at_home
from timelines.types import Entry

posts = st.builds(
    PostId,
    st.integers(1, 3),
    st.integers(1, 3) | st.integers(MAX_ACCOUNT_ID - 2, MAX_ACCOUNT_ID),
    st.integers(0, 3) | st.integers(SEQUENCES - 2, SEQUENCES - 1),
)
DAY_S = 86_400


def ad(campaign_id: int, percent: int = 100, starts_at_s: float = 0.0) -> RunningCampaign:
    target = Ad("a", "b", "https://c/")
    times = (starts_at_s, starts_at_s + DAY_S)
    return RunningCampaign(campaign_id, CampaignKind.AD, target, 3, 20, 1, percent, *times, None)


@given(st.sets(posts, min_size=2, max_size=8))
def test_a_place_lies_between_its_neighbours(ids):
    newest_first = sorted(ids, reverse=True)
    anchors = list_anchors(newest_first)
    assert len(anchors) == len(newest_first) - 1
    for above, below, anchor in zip(newest_first, newest_first[1:], anchors, strict=False):
        place = id_below(above)
        assert anchor == (above.base36 if below < place else "")
        assert below <= place < above
        assert place.second == above.second


@pytest.mark.parametrize("percent", [0, 1, 30, 99, 100])
def test_share_of_an_audience(percent):
    inside = sum(is_in_audience(ad(3, percent), viewer) for viewer in range(1, 20_001))
    assert inside == pytest.approx(200 * percent, abs=400 if 0 < percent < 100 else 0)


def test_larger_share_holds_the_smaller_and_campaigns_differ():
    def inside(campaign_id, percent):
        viewers = range(1, 5_001)
        return {v for v in viewers if is_in_audience(ad(campaign_id, percent), v)}

    assert inside(1, 20) < inside(1, 40)
    assert len(inside(1, 20) & inside(2, 20)) < len(inside(1, 20)) / 2


def test_dates():
    def is_offered(now_s):
        return bool(choose_offered([ad(1, starts_at_s=5.0 * DAY_S)], 9, now_s, all_kinds=True))

    offered = [is_offered(now_s) for now_s in (5 * DAY_S - 0.1, 5 * DAY_S, 6 * DAY_S - 0.1)]
    assert offered == [False, True, True]
    assert not is_offered(6 * DAY_S)


def test_ads_are_for_clients_that_know_them():
    assert not choose_offered([ad(1)], 9, 1.0, all_kinds=False)


def test_every_campaign_is_offered_on_some_day():
    campaigns = [ad(n)._replace(ends_at_s=1e9) for n in range(1, 2 * MOST_OFFERED)]
    days = [choose_offered(campaigns, 9, day * DAY_S, all_kinds=True) for day in range(40)]
    assert {len(offered) for offered in days} == {MOST_OFFERED}
    assert {offered[0].id for offered in days} == {campaign.id for campaign in campaigns}
    assert choose_offered(campaigns[::-1], 9, 0.0, all_kinds=True) == days[0]


ME, AUTHOR, OTHER, MORE = 1, 2, 3, 4
NOW = 1_000
FOLLOWED = Relationship(mine=Attribute.FOLLOW)
MUTED = Relationship(is_muted=True)
STATES = {
    "stranger": UNRELATED,
    "follows me": Relationship(theirs=Attribute.FOLLOW),
    "blocks me": Relationship(theirs=Attribute.BLACK),
    "requested": Relationship(mine=Attribute.REQUESTED),
    "mute over": MUTED._replace(muted_until_ms=NOW),
    "followed": FOLLOWED,
    "followed quietly": Relationship(mine=Attribute.WHISPER),
    "followed on an exclusive list": FOLLOWED._replace(is_exclusive=True),
    "followed, mute over": FOLLOWED._replace(is_muted=True, muted_until_ms=NOW),
    "blocked": Relationship(mine=Attribute.BLACK),
    "muted": MUTED,
    "muted a while longer": MUTED._replace(muted_until_ms=NOW + 1),
    "followed and muted": FOLLOWED._replace(is_muted=True),
}
UNWANTED = {"blocked", "muted", "muted a while longer", "followed and muted"}
FOLLOWEES = {state for state in STATES if state.startswith("followed")}
SURFACES = {
    **{f"home, {choice}": HOME_SCOPES[choice] for choice in HOME_REPLIES},
    "list, list": ReplyScope(to_accounts=frozenset({MORE})),
    "list, followed": ReplyScope(to_followees=True),
    "list, none": ReplyScope(),
}
REPLIES_TO_ALL, TO_FOLLOWEES = {"home, all"}, {"home, followed", "list, followed"}


def shown(
    surface: str, addressed: Addressed, state: str = "stranger", author: int = AUTHOR
) -> bool:
    related = {AUTHOR: FOLLOWED, OTHER: STATES[state], MORE: UNRELATED}
    return shows_addressed(ME, author, addressed, SURFACES[surface], related, NOW)


@pytest.mark.parametrize(("state", "surface"), [*product(STATES, SURFACES)])
def test_the_table(state: str, surface: str) -> None:
    is_wanted = state not in UNWANTED
    is_in_scope = surface in REPLIES_TO_ALL or (surface in TO_FOLLOWEES and state in FOLLOWEES)
    assert shown(surface, Addressed(OTHER), state) is (is_wanted and is_in_scope)
    assert shown(surface, Addressed(OTHER, (ME,)), state) is is_in_scope, "it mentions me"
    for mentioned in ((OTHER,), (MORE, OTHER), (OTHER, AUTHOR)):
        assert shown(surface, Addressed(None, mentioned), state) is is_wanted
        assert shown(surface, Addressed(None, (*mentioned, ME)), state), "it mentions me too"
        assert shown(surface, Addressed(ME, mentioned), state), "it answers me"
    for addressed in (Addressed(OTHER), Addressed(OTHER, (OTHER,)), Addressed(None, (OTHER,))):
        assert shown(surface, addressed, state, author=ME), "my own"


@pytest.mark.parametrize("surface", SURFACES)
def test_answers_to_oneself_to_me_and_to_members(surface: str) -> None:
    assert shown(surface, Addressed(AUTHOR)) is (surface != "home, none")
    assert shown(surface, Addressed(ME))
    is_shown = surface in REPLIES_TO_ALL | {"list, list"}
    assert shown(surface, Addressed(MORE)) is is_shown, "a stranger who is a member"


POST, REPOST = PostId(9, AUTHOR, 0), PostId(10, AUTHOR, 0)


def encoded(text: str = "hello", parent: PostId | None = None, mentions: object = None) -> bytes:
    target = (Kind.REPLY, parent.author_id, parent.moment) if parent else (Kind.POST,)
    row = PostRow(AUTHOR, POST.moment, text, False, text, None, *target)
    return encode_post(row._replace(mentions=mentions))


@pytest.mark.parametrize(
    ("entry", "is_muted", "home_tags", "verdict"),
    [
        (Entry.of_post(POST), False, set(), False),
        (Entry(PostId(10, MORE, 0), POST), False, set(), True),
        (Entry(PostId(10, MORE, 0), POST), True, set(), False),
        (Entry(PostId(10, ME, 0), POST), True, set(), True),
    ],
    ids=["a reply", "its repost", "its repost, muted", "my own repost, muted"],
)
def test_reposts_of_replies(entry, is_muted, home_tags, verdict):
    fragments = {entry.event: b">", POST: encoded(parent=PostId(5, OTHER, 0))}
    related = {AUTHOR: FOLLOWED, MORE: FOLLOWED, OTHER: MUTED if is_muted else UNRELATED}
    inputs = VisibilityInputs(
        ME, NOW, fragments, dict.fromkeys((ME, AUTHOR, MORE), b""),
        Relationships.build(None, related), find_addressed(fragments), HOME_SCOPES["followed"],
        Surface.HOME, home_tags,
    )  # fmt: skip
    assert is_visible_at_home(entry, inputs) is verdict


@pytest.mark.parametrize(
    "text",
    ["", '"in_reply_to_account_id":"7"', ',"in_reply_to_account_id":"7"', '"mentions":[{"id":"7"'],
)
def test_what_people_write_is_not_taken_for_the_fields(text):
    parent = PostId(5, OTHER, 0)
    assert find_replied_to(encoded(text)) is None
    assert find_replied_to(encoded(text, parent)) == OTHER
    named = [(OTHER, "other"), (MORE, "more")]
    fragments = {
        PostId(1, AUTHOR, 0): encoded(text),
        PostId(2, AUTHOR, 0): encoded(text, parent),
        PostId(3, AUTHOR, 0): encoded(text, mentions=named),
        PostId(4, AUTHOR, 0): encoded(text, PostId(5, AUTHOR, 0), named[:1]),
    }
    assert find_addressed(fragments) == {
        PostId(2, AUTHOR, 0): Addressed(OTHER),
        PostId(3, AUTHOR, 0): Addressed(None, (OTHER, MORE)),
        PostId(4, AUTHOR, 0): Addressed(AUTHOR, (OTHER,)),
    }
