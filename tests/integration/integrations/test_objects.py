"""Objects of services over HTTP: declared kinds, created once, changed where they differ, ended."""

import orjson
import pytest

from accounts.actions.declare_object_kind import MOST_OBJECT_KINDS
from accounts.identities.models import ExternalIdentity
from accounts.models import Account, User
from accounts.queries import site_counts
from infra.sharding.buckets import shard_of
from integrations.api import provisioning
from moderation.jobs.export_account import read_exported_account
from tests import budgets
from tests.callers import Caller, assert_refused
from tests.delivered import deliver_all
from tests.dying import Killed, die
from tests.integration.integrations.services import Service
from tests.integration.integrations.test_deactivating import purge
from tests.integration.integrations.test_events import position_now, read_all
from tests.integration.posts.interacting import STATUSES
from tests.races import failures, run_together
from tests.waiting import until
from tests.world import drain_all

KINDS, OBJECTS = "/api/v1/services/object_kinds", "/api/v1/services/objects"
WORDS = {"en": "recipe", "de": "Rezept"}
CUSTOM = {"z": 1, "locked": True, "a": [{"suspended": False}], "url": 'x"y\\z'}
SOUP = {
    "title": " Lentil soup ",
    "note": "With lemon",
    "url": "https://product.example/recipes/17",
    "image": "https://product.example/17.jpg",
    "custom": CUSTOM,
}


@pytest.fixture
def service(world):
    service = Service()
    assert service.put(f"{KINDS}/recipe", {"words": WORDS}).status_code == 200
    return service


def put(service, external_id="17", kind="recipe", **fields):
    answer = service.put(f"{OBJECTS}/{kind}/{external_id}", fields)
    assert answer.status_code == 200, answer.content
    return answer.json()


def row_of(account_id):
    return Account.objects.of(int(account_id)).get(id=int(account_id))


def test_an_object_is_created_once_and_is_an_account(service, me):
    made = put(service, **SOUP)
    assert made == {
        "account_id": made["account_id"],
        "kind": "recipe",
        "external_id": "17",
        "username": made["username"],
        "title": "Lentil soup",
        "note": "With lemon",
        "url": SOUP["url"],
        "image": SOUP["image"],
        "custom": CUSTOM,
        "locked": False,
        "suspended": False,
        "created": True,
    }
    assert made["username"].startswith("recipe_")
    assert put(service, **SOUP) == made | {"created": False}
    assert service.get(f"{OBJECTS}/recipe/17").json() == {
        name: value for name, value in made.items() if name != "created"
    }
    assert ExternalIdentity.objects.count() == 1
    shown = me.get(f"/api/v1/accounts/{made['account_id']}").json()
    assert (shown["display_name"], shown["group"], shown["locked"]) == ("Lentil soup", True, False)
    assert shown["object"] == {
        "kind": "recipe",
        "external_id": "17",
        "url": SOUP["url"],
        "image": SOUP["image"],
        "custom": CUSTOM,
    }
    assert list(shown["object"]["custom"]) == list(CUSTOM), "the names keep their order"
    user = User.objects.get(pk=made["account_id"])
    assert (user.has_usable_password(), user.email) == (False, "")


def test_a_person_has_no_object(service, me):
    shown = me.get("/api/v1/accounts/verify_credentials").json()
    assert not shown["group"]
    assert "object" not in shown


def test_what_is_not_sent_stays_and_what_is_the_same_writes_nothing(service, me):
    account_id = put(service, **SOUP)["account_id"]
    before = row_of(account_id).version
    put(service)
    put(service, **SOUP)
    assert row_of(account_id).version == before
    changed = put(service, image="", custom={"minutes": 40}, username="lentil_soup")
    assert (changed["image"], changed["url"]) == (None, SOUP["url"])
    assert (changed["custom"], changed["title"]) == ({"minutes": 40}, "Lentil soup")
    shown = me.get(f"/api/v1/accounts/{account_id}").json()
    assert (shown["object"]["custom"], shown["acct"]) == ({"minutes": 40}, "lentil_soup")


def test_one_id_of_two_kinds_is_two_objects(service):
    service.put(f"{KINDS}/shop", {"words": {"en": "shop"}})
    ids = {put(service, kind=kind, title="A")["account_id"] for kind in ("recipe", "shop")}
    people = service.put("/api/v1/services/accounts/17", {"username": "ann"}).json()
    assert len({*ids, people["account_id"]}) == 3


def test_kinds_are_declared_and_stay(service):
    for words in (WORDS, {"en": "dish"}):
        answer = service.put(f"{KINDS}/recipe", {"words": words})
        assert (answer.status_code, answer.json()) == (200, {"name": "recipe", "words": words})
    service.put(f"{KINDS}/course", {"words": WORDS})
    assert [kind["name"] for kind in service.get(KINDS).json()] == ["course", "recipe"]
    for number in range(MOST_OBJECT_KINDS - 2):
        assert service.put(f"{KINDS}/k{number}", {"words": WORDS}).status_code == 200
    refused = service.put(f"{KINDS}/more", {"words": WORDS})
    assert_refused(refused, 422)
    assert "At most 50 kinds of objects" in refused.json()["error"]


@pytest.mark.parametrize("name", ["Recipe", "1a", "a-b", "a.b", "a" * 16, "r\u00e9", "a%0A", "%00"])
def test_a_bad_name_of_a_kind_is_refused(service, name):
    answer = service.put(f"{KINDS}/{name}", {"words": WORDS})
    assert_refused(answer, 422)
    assert "like recipe" in answer.json()["error"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "title"),
        ({"title": ""}, "title can't be blank"),
        ({"title": "  "}, "title can't be blank"),
        ({"title": "x" * 101}, "too long"),
        ({"title": "a\x00b"}, "NUL"),
        ({"title": 5}, "title must be text"),
        ({"title": "A", "url": "javascript:alert(1)"}, "url must be an http address"),
        ({"title": "A", "image": "https://" + "x" * 2_000}, "image must be an http address"),
        ({"title": "A", "url": "https://["}, "url must be an http address"),
        ({"title": "A", "custom": {"a": "x" * 4_100}}, "4,096 bytes"),
        ({"title": "A", "custom": [1]}, "must be a JSON object"),
        ({"title": "A", "custom": {"a": 2**60}}, "integer"),
        ({"title": "A", "custom": {"a": "\x00"}}, "NUL"),
        ({"title": "A", "color": "red"}, "color is no field of an object"),
        ({"title": "A", "active": False}, "active: false comes alone"),
        ({"title": "A", "locked": "maybe"}, "locked must be true or false"),
        ({"title": "A", "username": "a b"}, "only letters"),
        ({"title": "A", "note": "x" * 501}, "too long"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_stored(service, fields, why):
    answer = service.put(f"{OBJECTS}/recipe/17", fields)
    assert_refused(answer, 422)
    assert why in answer.content.decode()
    (outcome,) = put_many(service, {"kind": "recipe", "external_id": "17", **fields})
    assert outcome["status"] == 422, outcome
    assert why in str(outcome)
    assert not User.objects.exists()


def test_an_unknown_kind_is_named(service):
    answer = service.put(f"{OBJECTS}/course/17", {"title": "A"})
    assert_refused(answer, 404)
    assert answer.json()["error"] == "There is no such kind of objects: they are recipe"
    assert_refused(service.get(f"{OBJECTS}/recipe/18"), 404)
    assert_refused(service.delete(f"{OBJECTS}/recipe/18"), 404)


def put_many(service, *objects):
    answer = service.put(OBJECTS, {"objects": objects})
    assert answer.status_code == 200, answer.content
    return answer.json()


def named(external_id, **fields):
    return {"kind": "recipe", "external_id": external_id, **fields}


def test_many_are_created_at_once_and_each_has_its_answer(service, me):
    known = put(service, "1", **SOUP)
    answers = put_many(
        service,
        named("1", title="Soup"),
        named("2", **SOUP),
        named("2", title="Again"),
        named("3"),
        named("4", title="Four", username="four", locked=True),
        {"kind": "shop", "external_id": "5", "title": "Shop"},
    )
    assert [answer["status"] for answer in answers] == [200, 200, 200, 422, 200, 404]
    assert [answer["external_id"] for answer in answers] == ["1", "2", "2", "3", "4", "5"]
    assert answers[0]["account_id"] == known["account_id"]
    assert [answers[n]["created"] for n in (0, 1, 2, 4)] == [False, True, False, True]
    assert answers[1]["custom"] == CUSTOM
    assert (answers[2]["title"], answers[2]["account_id"]) == ("Again", answers[1]["account_id"])
    assert (answers[4]["username"], answers[4]["locked"]) == ("four", True)
    shown = me.get(f"/api/v1/accounts/{answers[1]['account_id']}").json()
    assert (shown["display_name"], shown["object"]["external_id"]) == ("Again", "2")


def test_a_thousand_are_created_with_few_statements(service):
    with budgets.count_calls() as calls:
        answers = put_many(service, *(named(str(n), title=f"Recipe {n}") for n in range(1_000)))
    assert {answer["status"] for answer in answers} == {200}
    assert all(answer["created"] for answer in answers)
    assert User.objects.count() == 1_000
    assert len(calls.statements) < 60
    with budgets.count_calls() as calls:
        again = put_many(service, *(named(str(n), title=f"Recipe {n}") for n in range(1_000)))
    assert again == [answer | {"created": False} for answer in answers]
    assert len(calls.statements) < 20
    assert_refused(service.put(OBJECTS, {"objects": [named("1")] * 1_001}), 422)


def test_of_many_that_are_late_the_rest_is_refused(service, monkeypatch):
    put(service, "1", title="One")
    monkeypatch.setattr(provisioning, "LIST_S", -1.0)
    assert [a["status"] for a in put_many(service, named("1", title="Two"))] == [503]


def test_many_calls_at_once_create_one_object(service):
    def put_until_it_is_there():
        def answer_unless_busy():
            answer = service.put(f"{OBJECTS}/recipe/17", {"title": "Soup"})
            return None if answer.status_code == 503 else answer.json()

        return until(answer_unless_busy)

    def put_many_until_it_is_there():
        def answer_unless_busy():
            (answer,) = put_many(service, named("17", title="Soup"))
            return None if answer["status"] == 503 else answer

        return until(answer_unless_busy)

    answers = run_together([put_until_it_is_there, put_many_until_it_is_there] * 3)
    assert not failures(answers), failures(answers)[0]
    assert len({answer["account_id"] for answer in answers}) == 1
    assert sum(answer["created"] for answer in answers) == 1
    assert User.objects.count() == 1


def test_a_kill_leaves_all_or_nothing(service, monkeypatch):
    monkeypatch.setattr(ExternalIdentity, "save", lambda *_, **__: die())
    with pytest.raises(Killed):
        put(service, **SOUP)
    assert not User.objects.exists()


def test_a_deleted_object_is_gone_at_the_next_read(service, me):
    made = put(service, **SOUP)
    account = f"/api/v1/accounts/{made['account_id']}"
    assert me.post(f"{account}/follow").status_code == 200
    post = service.post(STATUSES, made["account_id"], {"status": "New: with lemon"}).json()
    for _ in range(2):
        answer = service.delete(f"{OBJECTS}/recipe/17")
        assert (answer.status_code, answer.json()["suspended"]) == (200, True)
    assert_refused(me.get(account), 404)
    assert_refused(me.get(f"{STATUSES}/{post['id']}"), 404)
    assert me.get("/api/v1/timelines/home").json() == []
    assert_refused(service.put(f"{OBJECTS}/recipe/17", SOUP), 403)


def test_the_purge_of_an_object_clears_its_data_and_its_followers(service, me):
    account_id = put(service, **SOUP)["account_id"]
    me.post(f"/api/v1/accounts/{account_id}/follow")
    service.delete(f"{OBJECTS}/recipe/17")
    drain_all()
    purge(int(account_id))
    drain_all()
    row = row_of(account_id)
    cleared = {"kind": "recipe", "external_id": "17", "url": "", "image": "", "custom": "{}"}
    assert (row.service_object, row.display_name, row.note) == (cleared, "", "")
    assert me.get("/api/v1/accounts/verify_credentials").json()["following_count"] == 0


def test_the_archive_of_an_object_has_its_data(service):
    account_id = put(service, **SOUP)["account_id"]
    archived = orjson.loads(read_exported_account(int(account_id)))
    assert archived["object"]["custom"] == CUSTOM


def test_of_many_one_rests_and_a_deleted_one_is_refused(service):
    for external_id in ("1", "2"):
        put(service, external_id, title="Soup")
    service.delete(f"{OBJECTS}/recipe/2")
    answers = put_many(
        service, named("1", active=False), named("2", title="Soup"), named("1", active=True)
    )
    assert [a["status"] for a in answers] == [200, 403, 200]
    assert [answers[n]["suspended"] for n in (0, 2)] == [True, False]


def test_an_object_rests_and_comes_back(service, me):
    account = f"/api/v1/accounts/{put(service, **SOUP)['account_id']}"
    assert put(service, active=False)["suspended"]
    assert_refused(me.get(account), 404)
    assert not put(service, active=True)["suspended"]
    assert me.get(account).json()["object"]["custom"] == CUSTOM


def test_people_follow_it_and_see_what_its_service_posts_for_it(service, me):
    made = put(service, **SOUP)
    assert me.post(f"/api/v1/accounts/{made['account_id']}/follow").json()["following"]
    post = service.post(STATUSES, made["account_id"], {"status": "New: with lemon"}).json()
    drain_all()
    (entry,) = me.get("/api/v1/timelines/home").json()
    assert (entry["id"], entry["account"]["object"]["custom"]) == (post["id"], CUSTOM)
    shown = me.get(f"/api/v1/accounts/{made['account_id']}").json()
    assert shown["followers_count"] == 1


def test_a_lost_shard_gives_the_object_back_with_the_next_put(service):
    made = put(service, **SOUP)
    Account.objects.on(shard_of(int(made["account_id"]))).update(service_object=None)
    assert put(service, **SOUP) == made | {"created": False}


def test_only_a_service_for_accounts_may(world, me):
    for caller in (Service("service:write"), me):
        assert_refused(caller.put(f"{OBJECTS}/recipe/17", SOUP), 403)
        assert_refused(caller.put(f"{KINDS}/recipe", {"words": WORDS}), 403)
        assert_refused(caller.get(KINDS), 403)
    assert_refused(Service().put(f"{OBJECTS}/recipe/17", SOUP, me.id), 403)
    assert_refused(Caller(None).get(KINDS), 403)


def test_a_site_does_not_count_objects_as_users(service):
    before = site_counts._count_users()
    put(service, **SOUP)
    assert site_counts._count_users() == before
    service.put("/api/v1/services/accounts/u1", {"username": "ann"})
    assert site_counts._count_users() == before + 1


def test_events_say_which_object_they_are_about(service, me):
    reader = Caller(None, "service:changes")
    deliver_all()
    start = position_now(reader)
    account_id = put(service, "17", **SOUP)["account_id"]
    me.post(f"/api/v1/accounts/{account_id}/follow")
    deliver_all()
    wanted = ("account.created", "relation.changed")

    def read_wanted():
        by_type = {event["type"]: event["data"] for event in read_all(reader, start)[0]}
        return [by_type[name] for name in wanted if name in by_type]

    created, followed = until(lambda: len(data := read_wanted()) == len(wanted) and data)
    soup = {"kind": "recipe", "external_id": "17"}
    assert (created["object"], created.get("external_id")) == (soup, None)
    assert (followed["target_object"], followed.get("target_external_id")) == (soup, None)
