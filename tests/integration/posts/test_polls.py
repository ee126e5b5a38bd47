"""Polls: published with a post, voted on once, and live in every answer that shows the post."""

import time
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
import orjson
import pytest
from django.test import Client

from accounts.images.queries.attachments import load_attachments
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from posts.actions.check_poll import LONGEST_OPTION, LONGEST_S, MOST_OPTIONS, SHORTEST_S
from posts.actions.create_post import create_post
from posts.actions.end_polls import end_polls
from posts.actions.hide_post import hide_post
from posts.actions.vote import delete_voters, vote
from posts.errors import AlreadyVoted
from posts.ids import PostId
from posts.queries.polls import load_polls
from posts.queries.quoting import list_voters
from posts.types import Draft, NewPoll
from relations.actions.block import block
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.dying import dying_at
from tests.pictures import picture, upload
from tests.races import failures, run_together
from tests.world import NOW, forget_memory, make_account, make_accounts

STATUSES = "/api/v1/statuses"
POLL = {"options": ["tea", "milk"], "expires_in": 600}


@pytest.fixture
def ann(world):
    return make_account("ann")


@pytest.fixture
def bob(world):
    return make_account("bob")


@pytest.fixture
def me(ann):
    return Caller(ann)


@pytest.fixture
def you(bob):
    return Caller(bob)


def ask(caller: Caller, **poll: object):
    return caller.post(STATUSES, {"status": "which?", "poll": POLL | poll})


def publish_poll(author_id: int, seconds: int = 600, multiple: bool = False) -> PostId:
    poll = NewPoll(("tea", "milk", "rum"), multiple, False, int(time.time()) + seconds)
    return create_post(author_id, Draft("which?", poll=poll))


def poll_of(caller: Caller | Client, post_id: str):
    return caller.get(f"{STATUSES}/{post_id}").json()["poll"]


def put(caller: Caller, path: str, body: object):
    return caller.client.put(path, orjson.dumps(body), "application/json")


def send_votes(caller: Caller, post_id: str, *choices: int):
    return caller.post(f"/api/v1/polls/{post_id}/votes", {"choices": list(choices)})


def test_poll_is_in_the_post_and_has_its_id(me, you):
    made = ask(me).json()
    poll = made["poll"]
    assert poll["id"] == made["id"]
    assert poll["options"] == [{"title": t, "votes_count": 0} for t in ("tea", "milk")]
    assert (poll["expired"], poll["multiple"], poll["voted"]) == (False, False, True)
    assert (poll["votes_count"], poll["voters_count"], poll["own_votes"]) == (0, 0, [])
    assert you.get(f"/api/v1/polls/{made['id']}").json() == poll | {"voted": False}
    assert "voted" not in poll_of(Client(), made["id"])


def test_a_new_post_has_a_poll_or_images(me, ann):
    """Also a scheduled one, and one that an edit gives the other. What had both keeps both."""
    sent = [me.client.post("/api/v2/media", {"file": upload(picture())}).json() for _ in "12"]
    images = [image["id"] for image in sent]
    later = {"scheduled_at": f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"}
    with_poll, with_images = {"status": "a", "poll": POLL}, {"status": "a", "media_ids": images[:1]}
    polled = me.post(STATUSES, with_poll).json()["id"]
    pictured = me.post(STATUSES, with_images).json()["id"]
    more = {"media_ids": images[1:]}
    for answer in (
        me.post(STATUSES, with_poll | more),
        me.post(STATUSES, with_poll | more | later),
        put(me, f"{STATUSES}/{polled}", {"status": "b", **more}),
        put(me, f"{STATUSES}/{pictured}", {"status": "b", "poll": POLL}),
        put(me, f"{STATUSES}/{pictured}", with_poll | more),
    ):
        assert_refused(answer, 422)
        assert "poll cannot have images" in answer.json()["error"]
    poll = NewPoll(("tea", "milk"), False, False, int(time.time()) + 600)
    media = tuple(map(msgspec.to_builtins, load_attachments(ann, [int(images[1])])))
    both = create_post(ann, Draft("old", media=media, poll=poll)).public
    edited = put(me, f"{STATUSES}/{both}", {"status": "new"}).json()
    assert [one["id"] for one in edited["media_attachments"]] == images[1:]
    assert len(edited["poll"]["options"]) == 2
    assert put(me, f"{STATUSES}/{both}", {"status": "newer", "poll": POLL}).status_code == 200
    assert put(me, f"{STATUSES}/{polled}", {"status": "b"}).json()["poll"]


def test_vote_is_seen_by_all_at_the_next_read(me, you, ann, bob):
    follow(bob, ann)
    post_id = publish_poll(ann, multiple=True).public
    you.get("/api/v1/timelines/home")
    me.get(f"{STATUSES}/{post_id}")
    voted = send_votes(you, post_id, 2, 0).json()
    assert (voted["voted"], voted["own_votes"]) == (True, [0, 2])
    assert [one["votes_count"] for one in voted["options"]] == [1, 0, 1]
    assert (voted["votes_count"], voted["voters_count"]) == (2, 1)
    assert poll_of(you, post_id) == voted
    assert you.get("/api/v1/timelines/home").json()[0]["poll"] == voted
    author_sees = poll_of(me, post_id)
    assert author_sees["options"] == voted["options"]
    assert (author_sees["voted"], author_sees["own_votes"]) == (True, [])


def test_further_options_of_a_poll_can_be_chosen_later(me, you, ann):
    post_id = publish_poll(ann, multiple=True).public
    assert send_votes(you, post_id, 1).json()["own_votes"] == [1]
    assert poll_of(me, post_id)["votes_count"] == 1
    voted = send_votes(you, post_id, 0).json()
    assert (voted["own_votes"], voted["votes_count"], voted["voters_count"]) == ([1, 0], 2, 1)
    assert [one["votes_count"] for one in voted["options"]] == [1, 1, 0]
    assert poll_of(you, post_id) == voted
    again = send_votes(you, post_id, 2, 0)
    assert (again.status_code, "already voted" in again.json()["error"]) == (422, True)
    assert poll_of(you, post_id) == voted
    forget_memory()
    redis().call("FLUSHDB")
    assert poll_of(you, post_id) == voted


@pytest.mark.parametrize(
    ("choices", "error"),
    [([0, 1], "already voted"), ([3], "does not exist"), ([], "choices"), ([-1], "choices"),
     (["x"], "choices"), ([40_000], "choices"), ([0] * 5, "choices"), ([0, 0], "different")],
)  # fmt: skip
@pytest.mark.parametrize("multiple", [False, True])
def test_wrong_choices_are_refused(you, ann, choices, error, multiple):
    if error == "already voted" and multiple:
        pytest.skip("several options may be chosen")
    post_id = publish_poll(ann, multiple=multiple).public
    answer = send_votes(you, post_id, *choices)
    assert (answer.status_code, error in answer.json()["error"]) == (422, True)
    assert poll_of(you, post_id)["voters_count"] == 0


def test_second_vote_own_poll_and_ended_poll_are_refused(me, you, ann):
    post_id = publish_poll(ann)
    assert send_votes(you, post_id.public, 0).status_code == 200
    for answer, text in (
        (send_votes(you, post_id.public, 1), "already voted"),
        (send_votes(me, post_id.public, 1), "your own polls"),
        (send_votes(you, publish_poll(ann, seconds=-1).public, 1), "already ended"),
    ):
        assert (answer.status_code, text in answer.json()["error"]) == (422, True)
    assert poll_of(me, post_id.public)["voters_count"] == 1


def test_a_poll_comes_back_with_its_hidden_post(you, ann):
    """A read that began before the post was hidden may load the poll after that."""
    post_id = publish_poll(ann)
    hide_post(post_id, NOW, revision=1)
    assert you.get(f"/api/v1/polls/{post_id.public}").status_code == 404
    load_polls([post_id], None, time.time())  # of such a read
    hide_post(post_id, None, revision=2)
    assert poll_of(you, post_id.public)["id"] == post_id.public


def test_totals_can_be_hidden_until_the_end(me, you, ann):
    made = ask(me, hide_totals=True).json()
    voted = send_votes(you, made["id"], 1).json()
    assert [one["votes_count"] for one in voted["options"]] == [None, None]
    assert voted["votes_count"] == 1
    later = time.time() + 601
    post_id = PostId.from_public(made["id"])
    (ended,) = load_polls([post_id], None, later).values()
    assert ended["expired"]
    assert [one["votes_count"] for one in ended["options"]] == [0, 1]


BAD_POLLS = (
    {"options": ["one"]}, {"options": ["a"] * 2}, {"options": list("abcde")},
    {"options": ["a", " "]}, {"options": ["a", "b" * 51]}, {"options": "ab"},
    {"options": ["a", 1]}, {"options": None}, {"expires_in": 299}, {"expires_in": 2_629_747},
    {"expires_in": "soon"}, {"multiple": "perhaps"},
)  # fmt: skip


def test_bad_polls_are_refused(me):
    for poll in BAD_POLLS:
        assert ask(me, **poll).status_code == 422, poll
    assert me.post(STATUSES, {"status": "which?", "poll": "tea"}).status_code == 422


def test_instance_states_the_limits():
    limits = Client().get("/api/v2/instance").json()["configuration"]["polls"]
    assert limits == {
        "max_options": MOST_OPTIONS,
        "max_characters_per_option": LONGEST_OPTION,
        "min_expiration": SHORTEST_S,
        "max_expiration": LONGEST_S,
    }


def edit(me: Caller, post_id: str, **poll: object):
    answer = put(me, f"{STATUSES}/{post_id}", {"status": "which one?", "poll": poll})
    assert answer.status_code == 200, answer.content
    return answer.json()["poll"]


def history_of(caller: Caller, post_id: str):
    versions = caller.get(f"{STATUSES}/{post_id}/history").json()
    return [
        [one["title"] for one in v["poll"]["options"]] if "poll" in v else None for v in versions
    ]


def test_an_edit_without_a_poll_or_with_the_same_keeps_it_and_its_votes(me, you, ann):
    post_id = publish_poll(ann).public
    send_votes(you, post_id, 1)
    before = poll_of(you, post_id)
    assert put(me, f"{STATUSES}/{post_id}", {"status": "so?"}).json()["content"] == "<p>so?</p>"
    assert poll_of(you, post_id) == before
    edit(me, post_id, options=["tea", "milk", "rum"])
    assert poll_of(you, post_id) == before
    assert history_of(you, post_id) == [["tea", "milk", "rum"]] * 3


@pytest.mark.parametrize("is_warm", [True, False])
@pytest.mark.parametrize("multiple", [True, False])
def test_an_edit_with_other_options_resets_the_votes(me, you, ann, drain, is_warm, multiple):
    post_id, cat = publish_poll(ann, multiple=multiple).public, Caller(make_account())
    for voter, choice in ((you, 2), (cat, 0)):
        send_votes(voter, post_id, choice)
        poll_of(voter, post_id)
    if not is_warm:
        redis().call("FLUSHDB")
        forget_memory()
    options = {"options": ["tea", "milk", "gin"], "expires_in": 3_600, "multiple": multiple}
    edited = edit(me, post_id, **options)
    assert [one["title"] for one in edited["options"]] == ["tea", "milk", "gin"]
    for viewer in (you, cat):
        poll = poll_of(viewer, post_id)
        assert (poll["voted"], poll["own_votes"], poll["votes_count"]) == (False, [], 0)
    voted = send_votes(you, post_id, 1).json()
    assert (voted["own_votes"], voted["votes_count"], voted["voters_count"]) == ([1], 1, 1)
    assert send_votes(you, post_id, 1).status_code == 422
    assert [one["votes_count"] for one in poll_of(me, post_id)["options"]] == [0, 1, 0]
    assert history_of(cat, post_id) == [["tea", "milk", "rum"], ["tea", "milk", "gin"]]
    assert list_voters(PostId.from_public(post_id), 0, 9) == [int(verify(you))]
    drain()
    redis().call("FLUSHDB")
    forget_memory()
    assert poll_of(you, post_id) == voted
    assert poll_of(cat, post_id)["voted"] is False


def test_an_edit_moves_the_end_and_the_kind_of_choice(me, you, ann):
    post_id = publish_poll(ann).public
    send_votes(you, post_id, 1)
    before = poll_of(you, post_id)
    same = ["tea", "milk", "rum"]
    moved = edit(me, post_id, options=same, expires_in=86_400, hide_totals=True)
    assert moved["expires_at"] > before["expires_at"]
    shown = poll_of(you, post_id)
    assert (shown["own_votes"], shown["votes_count"]) == ([1], 1)
    assert shown["options"][1]["votes_count"] is None
    assert edit(me, post_id, options=same, multiple=True)["votes_count"] == 0
    assert poll_of(you, post_id) | {"expires_at": ""} == {
        **shown, "expires_at": "", "multiple": True, "voted": False, "own_votes": [],
        "votes_count": 0, "voters_count": 0,
        "options": [{"title": title, "votes_count": 0} for title in same],
    }  # fmt: skip
    assert send_votes(you, post_id, 0, 2).json()["own_votes"] == [0, 2]


def test_an_ended_poll_that_goes_on_ends_again(me, you, ann, drain):
    post_id = publish_poll(ann, seconds=-10)
    assert end_polls(shard_of(ann), time.time()) == 1
    assert send_votes(you, post_id.public, 0).status_code == 422
    edit(me, post_id.public, options=["tea", "milk", "rum"], expires_in=300)
    assert send_votes(you, post_id.public, 0).status_code == 200
    assert end_polls(shard_of(ann), time.time()) == 0
    assert end_polls(shard_of(ann), time.time() + 400) == 1


def test_an_edit_gives_a_post_a_poll(me, you):
    post_id = me.post(STATUSES, {"status": "which?"}).json()["id"]
    assert me.get(f"/api/v1/polls/{post_id}").status_code == 404
    assert put(me, f"{STATUSES}/{post_id}", {"status": "?", "poll": POLL}).json()["poll"]
    assert send_votes(you, post_id, 1).json()["votes_count"] == 1
    assert history_of(you, post_id) == [None, ["tea", "milk"]]
    for wrong in ({"options": ["a"]}, {"options": ["a", "b"], "expires_in": 10}, "a"):
        body = {"status": "?", "poll": wrong}
        assert put(me, f"{STATUSES}/{post_id}", body).status_code == 422
    assert poll_of(you, post_id)["votes_count"] == 1


def test_killed_after_an_edit_the_drain_refreshes_the_poll(me, you, ann, drain):
    post_id = publish_poll(ann).public
    send_votes(you, post_id, 1)

    with dying_at("changes.committed"):
        edit(me, post_id, options=["a", "b"], expires_in=600)
    drain()
    poll = poll_of(you, post_id)
    assert ([one["title"] for one in poll["options"]], poll["voted"]) == (["a", "b"], False)


def verify(caller: Caller) -> str:
    return str(caller.get("/api/v1/accounts/verify_credentials").json()["id"])


def test_poll_of_a_post_that_one_may_not_see(you, ann, bob):
    post_id = publish_poll(ann).public
    block(ann, bob)
    assert send_votes(you, post_id, 0).status_code == 404
    assert you.get(f"/api/v1/polls/{post_id}").status_code == 404
    assert you.get("/api/v1/polls/2821109910051").status_code == 404


def test_plain_post_has_no_poll_and_text_cannot_make_one(me, ann):
    made = me.post(STATUSES, {"status": 'which? "poll":"\ue0001" \ue0002'}).json()
    assert made["poll"] is None
    assert "\ue0002" in made["content"]
    assert me.get(f"/api/v1/polls/{made['id']}").status_code == 404


def test_votes_are_exact_under_concurrency(ann):
    post_id, voters = publish_poll(ann), make_accounts(6)
    calls = [partial(vote, voter, post_id, [n % 3]) for voter in voters for n in range(2)]
    refused = failures(run_together(calls))
    assert [type(one) for one in refused] == [AlreadyVoted] * 6
    poll = load_polls([post_id], None, time.time())[post_id]
    assert (poll["votes_count"], poll["voters_count"]) == (6, 6)
    rows = fetch_all(shard_of(ann), "SELECT choices FROM posts_pollvote")
    tally = [sum([n] == choices for (choices,) in rows) for n in range(3)]
    assert [one["votes_count"] for one in poll["options"]] == tally


def test_killed_after_the_commit_the_next_call_refreshes(you, me, ann, bob, drain):
    post_id = publish_poll(ann)
    poll_of(you, post_id.public)

    with dying_at("changes.committed"):
        vote(bob, post_id, [1])
    assert send_votes(you, post_id.public, 1).status_code == 422  # and the caches have it now
    assert poll_of(you, post_id.public)["own_votes"] == [1]
    drain()
    assert poll_of(me, post_id.public)["voters_count"] == 1


def test_deleted_post_takes_its_votes_along(me, you, ann, drain):
    post_id = publish_poll(ann)
    send_votes(you, post_id.public, 0)
    assert me.delete(f"{STATUSES}/{post_id.public}").status_code == 200
    drain()
    for table in ("posts_pollvote", "posts_polltally"):
        assert fetch_one(shard_of(ann), f"SELECT count(*) FROM {table}") == (0,)


def test_the_answer_to_a_deletion_has_the_poll_also_without_caches(me, you, ann):
    """Clients write the post and its poll again from this answer."""
    post_id = publish_poll(ann)
    send_votes(you, post_id.public, 1)
    redis().call("FLUSHDB")
    forget_memory()
    poll = me.delete(f"{STATUSES}/{post_id.public}").json()["poll"]
    assert [one["title"] for one in poll["options"]] == ["tea", "milk", "rum"]
    assert poll["votes_count"] == 1


def test_purged_voters_are_forgotten_and_their_votes_count(ann, bob):
    post_id = publish_poll(ann)
    vote(bob, post_id, [0])
    assert delete_voters(shard_of(ann), bob) == 1
    redis().call("FLUSHDB")
    forget_memory()
    poll = load_polls([post_id], bob, time.time())[post_id]
    assert (poll["voters_count"], poll["voted"]) == (1, False)


def test_pages_without_polls_cost_nothing_more(me, you, ann):
    post_id = publish_poll(ann).public
    you.get(f"{STATUSES}/{post_id}")
    with count_calls() as calls:
        poll_of(you, post_id)
    assert calls.statements == []


def test_answers_with_polls_have_no_entity_tag(you, ann):
    post_id = publish_poll(ann).public
    answer = you.get(f"{STATUSES}/{post_id}")
    assert "ETag" not in answer
    assert int(answer["Content-Length"]) == len(answer.content)
