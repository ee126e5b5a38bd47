"""Reactions that services declare, over HTTP: on posts, in lists and in the change feed."""

import random

import pytest

from counters.kinds import DECLARED
from infra import declarations
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all
from posts.actions.declare_reaction import declare_reaction
from posts.actions.mark_post import mark_post
from posts.ids import PostId
from posts.queries.reactions import find_shown_name, known_reactions
from posts.types import Kind
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.delivered import deliver_all
from tests.integration.integrations.services import Service
from tests.integration.integrations.test_events import of, position_now, publish, read_all
from tests.integration.posts.interacting import STATUSES, see
from tests.races import failures, run_together
from tests.reconciling import assert_audits_find_nothing
from tests.truth import assert_drained_truth
from tests.world import drain_all, forget_memory, make_account, make_accounts

PATH, NAME = "/api/v1/services/reactions", "cooked_it"
WORDS = {"en": "cooked it", "de": "gekocht"}
FIRST = DECLARED.start


@pytest.fixture
def service(world):
    return Service("service:write")


def declare(service, name=NAME, words=WORDS):
    return service.put(f"{PATH}/{name}", {"words": words})


def react(caller, post, name=NAME, act="react"):
    return caller.post(f"{STATUSES}/{post}/{act}/{name}")


def test_a_reaction_is_declared_and_keeps_its_number(service):
    assert service.get(PATH).json() == []
    for words in (WORDS, WORDS, {"en": "made it"}):
        answer = declare(service, words=words)
        declared = {"name": NAME, "words": words, "notifies": True}
        assert (answer.status_code, answer.json()) == (200, declared)
    declare(service, "clap")
    declare(service)
    assert service.get(PATH).json() == [
        {"name": NAME, "words": WORDS, "notifies": True},
        {"name": "clap", "words": WORDS, "notifies": True},
    ]
    numbers = fetch_all(GLOBAL_ALIAS, "SELECT name, number FROM posts_reaction", ())
    assert dict(numbers) == {NAME: FIRST, "clap": FIRST + 1}


def test_clients_read_what_is_declared_without_a_token(service, client):
    public = "/api/v1/instance/reactions"
    assert client.get(public).json() == []
    declare(service)
    service.put(f"{PATH}/clap", {"words": {"en": "clap"}, "notifies": False})
    expected = [
        {"name": NAME, "words": WORDS, "notifies": True},
        {"name": "clap", "words": {"en": "clap"}, "notifies": False},
    ]
    assert client.get(public).json() == expected
    with count_calls() as calls:
        assert client.get(public).json() == expected
    assert not calls.sql


def test_new_words_are_shown_by_other_processes_within_half_a_minute(service, client, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(declarations.time, "monotonic", lambda: now[0])
    declare(service)
    client.get("/api/v1/instance/reactions")
    known = known_reactions._known
    declare(service, words={"en": "made it"})
    known_reactions._known = known  # as in another process
    assert client.get("/api/v1/instance/reactions").json()[0]["words"] == WORDS
    now[0] += declarations.IN_PROCESS_S
    assert client.get("/api/v1/instance/reactions").json()[0]["words"] == {"en": "made it"}


@pytest.mark.parametrize(
    "name",
    [
        "favourite", "Clap", "cooked-it", "cooked it", "_clap", "1up", "clap.now", "cläp",
        "a" * 33, "a" * 300, "a%00", "%00", "clap%0A",
    ],
)  # fmt: skip
def test_a_bad_name_is_refused(service, me, name):
    answer = declare(service, name)
    assert_refused(answer, 422)
    assert "built in" in answer.json()["error"] or "like cooked_it" in answer.json()["error"]
    if name != "favourite":
        post = publish(me.id)
        for act in ("react", "unreact"):
            assert_refused(react(me, post, name, act), 404)
        assert_refused(me.get(f"{STATUSES}/{post}/reacted_by/{name}"), 404)


def test_an_undeclared_reaction_is_refused_with_those_that_there_are(service, me):
    declare(service)
    refused = react(me, publish(me.id), "clap")
    assert refused.status_code == 404
    assert refused.json()["error"] == "Reactions are favourite, cooked_it"


def test_a_bad_flag_is_refused(service):
    assert_refused(service.put(f"{PATH}/{NAME}", {"words": WORDS, "notifies": "perhaps"}), 422)
    assert service.get(PATH).json() == []


@pytest.mark.parametrize("words", [{}, None, "clap", {"en": ""}, {"en": 5}, {"en": "x" * 101}])
def test_bad_words_are_refused(service, words):
    assert_refused(declare(service, words=words), 422)
    assert service.get(PATH).json() == []


def test_the_limit_and_the_numbers_are_exact_while_all_are_declared_at_once(service):
    names = [f"r{number}" for number in range(len(DECLARED) + 4)]
    failed = failures(
        run_together([lambda n=n: declare_reaction(n, WORDS, at_ms=0) for n in names])
    )
    assert len(failed) == 4
    rows = fetch_all(GLOBAL_ALIAS, "SELECT number FROM posts_reaction ORDER BY 1", ())
    assert [number for (number,) in rows] == [*DECLARED]
    refused = declare(service)
    assert_refused(refused, 422)
    assert "At most 16 reactions" in refused.json()["error"]


def test_only_a_service_that_writes_may_declare(world, me):
    assert_refused(declare(Service("service:read")), 403)
    assert_refused(me.put(f"{PATH}/{NAME}", {"words": WORDS}), 403)
    assert_refused(me.get(PATH), 403)


def test_a_reaction_is_counted_shown_listed_and_undone(service, me):
    declare(service)
    declare(service, "clap")
    other, post = Caller(make_account()), publish(make_account())
    assert "reactions" not in see(me, post)
    for _ in range(2):
        answer = react(me, post)
        assert answer.json()["reactions"] == [{"name": NAME, "count": 1, "me": True}]
    drain_all()
    react(other, post)
    react(other, post, "clap")
    assert see(other, post)["reactions"] == [
        {"name": NAME, "count": 2, "me": True},
        {"name": "clap", "count": 1, "me": True},
    ]
    drain_all()
    assert see(me, post)["reactions"] == [
        {"name": NAME, "count": 2, "me": True},
        {"name": "clap", "count": 1, "me": False},
    ]
    assert see(me, post)["favourites_count"] == 0
    who = me.get(f"{STATUSES}/{post}/reacted_by/{NAME}").json()
    assert [account["id"] for account in who] == [str(other.id), str(me.id)]
    undone = react(me, post, act="unreact").json()["reactions"]
    assert undone[0] == {"name": NAME, "count": 1, "me": False}
    react(other, post, act="unreact")
    react(other, post, "clap", "unreact")
    drain_all()
    assert "reactions" not in see(me, post)


def test_the_favourite_is_a_reaction(world, me):
    post = publish(me.id)
    assert react(me, post, "favourite").json()["favourited"]
    drain_all()
    assert [a["id"] for a in me.get(f"{STATUSES}/{post}/reacted_by/favourite").json()] == [
        str(me.id)
    ]
    assert not react(me, post, "favourite", "unreact").json()["favourited"]


def test_what_another_process_declared_is_shown_at_once(service, me):
    post = publish(me.id)
    declare(service, "clap")
    react(me, post, "clap")
    known_reactions._keep(())  # as in another process
    assert see(me, post)["reactions"] == [{"name": "clap", "count": 1, "me": True}]
    known_reactions._keep(())
    assert react(me, post, "clap").status_code == 200


def test_the_json_of_a_product_is_not_taken_for_reactions(service, me):
    declare(service)
    custom = {"a": 1, "reactions": "\x7f32:5"}
    post = me.post(STATUSES, {"status": '\x7f,"reactions":"\x7f32:5"', "custom": custom}).json()
    react(me, post["id"])
    shown = see(me, post["id"])
    assert shown["custom"] == custom
    assert shown["reactions"] == [{"name": NAME, "count": 1, "me": True}]


def test_a_repost_and_a_home_page_show_the_reactions(service, me):
    declare(service)
    post = publish(me.id)
    me.post(f"{STATUSES}/{post}/reblog")
    react(me, post)
    drain_all()
    expected = [{"name": NAME, "count": 1, "me": True}]
    for status in me.get("/api/v1/timelines/home").json():
        assert (status["reblog"] or status)["reactions"] == expected
        assert status["reactions"] == expected


def test_a_reaction_of_a_blocked_account_is_not_listed(service, me):
    declare(service)
    author, blocked = make_accounts(2)
    post = publish(author)
    react(Caller(blocked), post)
    drain_all()
    me.post(f"/api/v1/accounts/{blocked}/block")
    assert me.get(f"{STATUSES}/{post}/reacted_by/{NAME}").json() == []
    assert see(me, post)["reactions"] == [{"name": NAME, "count": 1, "me": False}]
    Caller(author).post(f"/api/v1/accounts/{me.id}/block")
    assert_refused(react(me, post), 404)


def test_a_deleted_post_has_no_reactions(service, me):
    declare(service)
    post = publish(me.id)
    react(me, post)
    drain_all()
    me.client.delete(f"{STATUSES}/{post}")
    assert_refused(me.get(f"{STATUSES}/{post}/reacted_by/{NAME}"), 404)
    assert_refused(react(me, post), 404)
    assert react(me, post, act="unreact").status_code == 200


def test_the_feed_names_the_reaction(service, me):
    reader = Caller(None, "service:changes")
    declare(service)
    deliver_all()
    post, start = publish(me.id), position_now(reader)
    react(me, post)
    deliver_all()
    events, _ = read_all(reader, start)
    (data,) = (data for name, data in of(events, me.id) if name == "reaction.changed")
    assert data == {"account_id": str(me.id), "post_id": post, "name": NAME, "reaction": True}


def test_pages_without_reactions_cost_what_they_did_and_a_reaction_adds_none(service, me):
    """Neither statements nor commands, of a first page and of a warm one. Nor bytes, of others."""
    posts = [publish(me.id) for _ in range(3)]
    other = Caller(make_account())
    drain_all()
    plain, plain_page = cost_of_home(me)
    for number in range(4):
        declare(service, f"r{number}")
    react(other, posts[0], "r3")
    react(me, posts[0], "r3")
    drain_all()
    reacting, page = cost_of_home(me)
    assert reacting == plain
    assert b"reactions" not in plain_page
    shown = b',"reactions":[{"name":"r3","count":2,"me":true}]'
    assert page.replace(shown, b"") == plain_page


def cost_of_home(me):
    """Of a first page in a new process, and of the next one, each read after a first one that
    fills the caches; and the page."""
    costs = []
    me.get("/api/v1/timelines/home")
    forget_memory()
    me.get(f"{STATUSES}?id[]=1")  # what a process reads once
    find_shown_name(FIRST)
    for _ in range(2):
        with count_calls() as calls:
            page = me.get("/api/v1/timelines/home")
        costs.append((sum(calls.sql.values()), calls.round_trips, calls.commands))
    return costs, page.content


def test_random_reactions_leave_audits_nothing_to_find_and_counts_that_are_the_rows(service):
    draw = random.Random(58)
    people = make_accounts(4)
    for name in (NAME, "clap"):
        declare(service, name)
    posts = [PostId.from_public(publish(person)) for person in people]
    wanted: dict[tuple[PostId, Kind], set[int]] = {}
    for _ in range(120):
        person, post = draw.choice(people), draw.choice(posts)
        kind = draw.choice((Kind.FAVOURITE, Kind(FIRST), Kind(FIRST + 1)))
        is_on = draw.random() < 0.6
        mark_post(person, post, kind, is_on)
        who = wanted.setdefault((post, kind), set())
        (who.add if is_on else who.discard)(person)
        if draw.random() < 0.1:
            drain_all()
    drain_all()
    for post in posts:
        shown = see(Caller(people[0]), post.public)
        counts = {each["name"]: (each["count"], each["me"]) for each in shown.get("reactions", ())}
        for kind, name in ((Kind(FIRST), NAME), (Kind(FIRST + 1), "clap")):
            who = wanted.get((post, kind), set())
            assert counts.get(name, (0, False)) == (len(who), people[0] in who)
        assert shown["favourites_count"] == len(wanted.get((post, Kind.FAVOURITE), ()))
    assert_drained_truth()
    assert_audits_find_nothing()
