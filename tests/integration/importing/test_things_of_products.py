"""What a product has besides people, in a file of GetStream: follows of its things, and reactions
of its own."""

import json

import pytest

from accounts.actions.declare_object_kind import MOST_OBJECT_KINDS, declare_object_kind
from accounts.identities.queries import load_by_external_id
from accounts.models import Account, ObjectKind
from accounts.queries.object_kinds import known_object_kinds
from counters.kinds import DECLARED
from infra.sharding.buckets import shard_of
from infra.sharding.shards import shard_aliases
from notifications.models import Notification
from posts.actions.declare_reaction import declare_reaction
from posts.external.queries.posts import load_known_posts
from posts.queries.reactions import known_reactions, list_reactions
from tests.callers import Caller
from tests.integration.importing.imports import account, ids_of, run_import, run_on
from tests.integration.posts.interacting import do
from tests.reconciling import assert_audits_find_nothing
from tests.truth import live_pairs
from tests.world import drain_all

NAMES = ("ann", "bob")


@pytest.fixture(autouse=True)
def forget_kinds():
    known_object_kinds.forget()
    known_reactions.forget()


@pytest.fixture
def two(world, tmp_path):
    assert run_import("accounts", tmp_path, map(account, NAMES)).code == 0
    return ids_of(*NAMES)


def run_stream(kind, tmp_path, *lines, words=()):
    file = tmp_path / "stream.jsonl"
    file.write_text("".join(json.dumps({"type": t, "data": data}) + "\n" for t, data in lines))
    return run_on(kind, file, "--format", "getstream", *words)


def stream_follow(who, feed, since="2020-02-01T00:00:00Z"):
    return "follow", {"source_fid": f"timeline:u-{who}", "target_fid": feed, "created_at": since}


def things(kind):
    return {i: one.account_id for i, one in load_by_external_id(THINGS, f"object:{kind}").items()}


THINGS = ("17", "18", "x" * 255)
FOLLOWS = (
    stream_follow("ann", "recipe:17"),
    stream_follow("bob", "recipe:17"),
    stream_follow("bob", f"recipe:{THINGS[2]}"),
    stream_follow("ann", "shop:17"),
    stream_follow("ann", "user:u-bob"),
)


def test_a_follow_of_a_thing_is_one_of_its_object(two, tmp_path):
    ann, bob = two
    outcome = run_stream("follows", tmp_path, *FOLLOWS)
    assert (outcome.code, outcome.out) == (0, "5 lines done, 5 changed, 0 failed\n")
    recipes, shops = things("recipe"), things("shop")
    assert (set(recipes), set(shops)) == ({"17", THINGS[2]}, {"17"})
    pairs = {(ann, recipes["17"]), (bob, recipes["17"]), (bob, recipes[THINGS[2]])}
    assert live_pairs() == pairs | {(ann, shops["17"]), (ann, bob)}
    words = {kind.name: kind.words for kind in ObjectKind.objects.all()}
    assert words == {"recipe": {"en": "recipe"}, "shop": {"en": "shop"}}
    shown = Caller(ann).get(f"/api/v1/accounts/{recipes['17']}").json()
    assert (shown["display_name"], shown["group"], shown["followers_count"]) == ("17", True, 2)
    assert (shown["object"]["kind"], shown["object"]["external_id"]) == ("recipe", "17")
    again = run_stream("follows", tmp_path, *FOLLOWS)
    assert (again.code, again.out) == (0, "5 lines done, 0 changed, 0 failed\n")
    assert things("recipe") == recipes


def test_objects_and_kinds_that_are_there_stay_as_they_are(two, tmp_path):
    declare_object_kind("recipe", {"de": "Rezept"})
    run_stream("follows", tmp_path, FOLLOWS[0])
    row = Account.objects.on(shard_of(things("recipe")["17"])).get(pk=things("recipe")["17"])
    assert row.service_object["kind"] == "recipe"
    assert [kind.words for kind in ObjectKind.objects.all()] == [{"de": "Rezept"}]


def test_a_dry_run_creates_nothing(two, tmp_path):
    outcome = run_stream("follows", tmp_path, *FOLLOWS, words=("--dry-run",))
    assert (outcome.code, outcome.out) == (0, "5 lines looked at, 5 would change, 0 failed\n")
    assert live_pairs() == set()
    assert (things("recipe"), ObjectKind.objects.count()) == ({}, 0)


def test_json_lines_name_the_kind(two, tmp_path):
    ann, _ = two
    line = {"follower": "u-ann", "followee": "17", "object_kind": "recipe"}
    assert run_import("follows", tmp_path, [line]).code == 0
    assert live_pairs() == {(ann, things("recipe")["17"])}
    run_import("follows", tmp_path, [{**line, "ended": True}])
    assert live_pairs() == set()


def test_too_many_kinds_and_impossible_ones_are_refused_by_their_line(two, tmp_path):
    for number in range(MOST_OBJECT_KINDS):
        declare_object_kind(f"kind{number}", {"en": "kind"})
    outcome = run_stream(
        "follows", tmp_path,
        stream_follow("ann", "kind3:17"), stream_follow("ann", "recipe:17"),
        stream_follow("ann", "Recipe-Book:17"), stream_follow("ann", "recipe"),
    )  # fmt: skip
    assert outcome.out.splitlines() == [
        "line 2: there is no kind 'recipe': Validation failed: At most 50 kinds of objects can be"
        " declared",
        "line 3: 'Recipe-Book' is no kind of objects: a-z, 0-9 and _, at most 15",
        "line 4: 'recipe' is no feed",
        "1 lines done, 1 changed, 3 failed",
    ]


def test_a_follow_between_other_feeds_of_people_is_counted_and_not_kept(two, tmp_path):
    outcome = run_stream(
        "follows", tmp_path, stream_follow("ann", "stories:u-bob"),
        ("follow", {"source_fid": "recipe:17", "target_fid": "user:u-bob"}),
    )  # fmt: skip
    assert (outcome.code, outcome.out.splitlines()) == (0, [
        "not kept: follow: recipe of user: 1",
        "not kept: follow: timeline of stories: 1",
        "0 lines done, 0 changed, 0 failed",
    ])  # fmt: skip


ACTIVITY = {"id": "a1", "user_id": "u-bob", "text": "hi", "created_at": "2020-03-01T00:00:00Z"}
COOKED = {"object": {"kind": "recipe", "id": 17}}


@pytest.mark.parametrize(("said", "kept"), [
    ({"object": "recipe:17"}, {"object": "recipe:17"}),
    ({"custom": {"object": "recipe:17"}}, {"object": "recipe:17"}),
    ({"custom": {"stars": [4.5, None]}, "type": "cook", **COOKED},
     {"stars": [4.5, None], "type": "cook", **COOKED}),
    ({"type": "post", "custom": {}}, None),
])  # fmt: skip
def test_a_post_keeps_its_own_data_its_object_and_its_verb(two, tmp_path, said, kept):
    comment = {**ACTIVITY, "id": "c1", "object_id": "a1", "custom": said.get("custom", {})}
    outcome = run_stream(
        "posts", tmp_path, ("activity", {**ACTIVITY, **said}), ("comment", comment)
    )
    assert (outcome.code, outcome.out) == (0, "2 lines done, 2 changed, 0 failed\n")
    for key, custom in (("a1", kept), ("c1", comment["custom"] or None)):
        post_id = load_known_posts([key])[key].post_id.public
        assert Caller(two[0]).get(f"/api/v1/statuses/{post_id}").json().get("custom") == custom


def test_own_data_without_a_place_are_refused_by_their_line_or_counted(two, tmp_path):
    repost = {**ACTIVITY, "id": "a2", "text": "", "parent_id": "a1", "custom": {"mood": "glad"}}
    large = {**ACTIVITY, "id": "a3", "custom": {"notes": "x" * 4_096}}
    lines = [("activity", each) for each in (ACTIVITY, repost, large)]
    outcome = run_stream("posts", tmp_path, *lines)
    assert (outcome.code, outcome.out.splitlines()) == (1, [
        "line 3: Validation failed: custom has more than 4,096 bytes of JSON",
        "not kept: activity.custom.mood: 1",
        "2 lines done, 2 changed, 1 failed",
    ])  # fmt: skip


AT = "2020-03-02T00:00:00Z"
POSTS = (
    ("activity", {"id": "a1", "user_id": "u-bob", "text": "hi", "created_at": AT}),
    ("comment", {"id": "c1", "object_id": "a1", "user_id": "u-bob", "text": "x", "created_at": AT}),
)


def stream_reaction(who, name, **about):
    return "reaction", {"user_id": f"u-{who}", "type": name, "created_at": AT, **about}


REACTIONS = (
    stream_reaction("ann", "cooked", activity_id="a1"),
    stream_reaction("ann", "Want-it", activity_id="a1", comment_id="c1"),
    stream_reaction("ann", "like", activity_id="a1"),
)


@pytest.fixture
def two_posts(two, tmp_path):
    assert run_stream("posts", tmp_path, *POSTS).code == 0
    known = load_known_posts(["a1", "c1"])
    return [known[key].post_id.public for key in ("a1", "c1")]


def reactions_of(who, post):
    drain_all()
    return Caller(who).get(f"/api/v1/statuses/{post}").json().get("reactions")


def test_reactions_are_declared_and_imported_and_likes_are_favourites(two, two_posts, tmp_path):
    outcome = run_stream("reactions", tmp_path, *POSTS, *REACTIONS)
    assert (outcome.code, outcome.out) == (0, "5 lines done, 3 changed, 0 failed\n")
    assert reactions_of(two[0], two_posts[0]) == [{"name": "cooked", "count": 1, "me": True}]
    assert reactions_of(two[1], two_posts[1]) == [{"name": "want_it", "count": 1, "me": False}]
    declared = {each.name: each.notifies_from_ms for each in list_reactions()}
    assert declared == {"cooked": None, "want_it": None}
    shown = Caller(two[0]).get(f"/api/v1/statuses/{two_posts[0]}").json()
    assert (shown["favourites_count"], shown["favourited"]) == (1, True)
    assert all(not Notification.objects.on(alias).exists() for alias in shard_aliases())
    assert_audits_find_nothing()


def test_a_second_run_brings_no_reaction_back(two, two_posts, tmp_path):
    run_stream("reactions", tmp_path, *REACTIONS)
    do(Caller(two[0]), "unreact/cooked", two_posts[0])
    again = run_stream("reactions", tmp_path, *REACTIONS)
    assert again.out.splitlines()[-1] == "3 lines done, 0 changed, 0 failed"
    assert not reactions_of(two[0], two_posts[0])


def test_a_dry_run_declares_no_reaction(two, two_posts, tmp_path):
    outcome = run_stream("reactions", tmp_path, *REACTIONS, words=("--dry-run",))
    assert outcome.out.splitlines()[-1] == "3 lines looked at, 3 would change, 0 failed"
    assert (list_reactions(), reactions_of(two[0], two_posts[0])) == ([], None)


def test_impossible_reactions_are_refused_by_their_line(two, two_posts, tmp_path):
    for number in range(len(DECLARED)):
        declare_reaction(f"r{number}", {"en": "r"}, at_ms=0, notifies=False)
    line = {"account": "u-ann", "post": "a1", "reaction": "r3", "at": AT}
    others = [
        {"reaction": "cooked"}, {"reaction": "1x"},
        {"account": "u-eve"}, {"post": "p"}, {"at": "2999-01-01T00:00:00Z"},
    ]  # fmt: skip
    outcome = run_import("reactions", tmp_path, [line, *({**line, **each} for each in others)])
    assert outcome.out.splitlines() == [
        "line 2: there is no reaction 'cooked': Validation failed: At most 16 reactions can be"
        " declared",
        "line 3: '1x' is no name of a reaction: a-z, 0-9 and _, at most 32",
        "line 4: there is no account 'u-eve': import accounts first",
        "line 5: 'p' is not here, or not any more",
        "line 6: at is in the future",
        "1 lines done, 1 changed, 5 failed",
    ]
