"""Which posts home and lists show, by the accounts that they address: states and surfaces."""

from itertools import product

import pytest

from accounts.types import HOME_REPLIES
from posts.addressed import Addressed, find_addressed
from posts.api.present import encode_post, find_replied_to
from posts.ids import PostId
from posts.types import Kind, PostRow
from relations.queries.relationships import Relationships
from relations.types import UNRELATED, Attribute, Relationship
from timelines.addressed import HOME_SCOPES, ReplyScope, shows_addressed
from timelines.rules import Surface, VisibilityInputs, is_visible_at_home
from timelines.types import Entry

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
