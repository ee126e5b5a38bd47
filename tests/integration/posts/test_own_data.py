"""Types of posts and the JSON of products, over HTTP: given back everywhere as they were sent."""

import json
from urllib.parse import urlencode
from zipfile import ZipFile

import orjson
import pytest
from django.db import OperationalError
from django.test import Client

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from moderation.jobs.export_account import write_archive
from posts.actions.check_own_data import MOST_BYTES, MOST_INTEGER, MOST_LEVELS, MOST_SENT_BYTES
from posts.actions.declare_type import declare_type
from posts.actions.edit_post import edit_post
from posts.actions.hide_post import hide_post
from posts.fragments.present import encode_post
from posts.ids import PostId
from posts.queries.post_types import known_types
from posts.queries.rows import find_post_row
from posts.scheduled.actions.publish_due import publish_due
from posts.types import Draft
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.api.encodings import FORM
from tests.integration.integrations.services import Service
from tests.integration.posts.interacting import STATUSES, do, see
from tests.world import NOW, drain_all

RECIPE = {
    "title": "Lentil \u00fcber \"soup\" \\\\ \U0001f372",
    "b": 1, "a": [1.5, True, None, {"deep": []}], "empty": {},
    "largest": MOST_INTEGER, "small": -MOST_INTEGER, "tiny": 1e-7,
}  # fmt: skip
# Fields of ours, and the marks of places in fragments.
SPOOFED = {
    "id": "1", "visibility": "public", "conversation_id": "1", "in_reply_to_id": "7",
    "quote": "\U0010000000282110991005", "poll": "\ue00000282110991005\nred", "edited_at": None,
    "custom": "\U00080000{}", "mentions": [{"id": "1"}], "favourites_count": 1_000_000,
    "media_attachments": [{"description": "x"}], "current_user": "automatic", "filtered": [],
}  # fmt: skip
TYPE = "recipe.cooked"


@pytest.fixture(autouse=True)
def declared(world):
    declare_type(TYPE, {"en": "cooked"})


def cook(caller, custom=RECIPE, **sent):
    answer = caller.post(STATUSES, {"status": "hi #tea", "type": TYPE, "custom": custom, **sent})
    assert answer.status_code == 200, answer.content
    return answer.json()


def own_data(status):
    return status.get("type"), status.get("custom")


def exact(value):
    """With the order of names, and integers and floats apart."""
    return json.dumps(value)


@pytest.mark.parametrize("custom", [RECIPE, SPOOFED, {}])
def test_both_are_given_back_as_they_were_everywhere(people, me, you, custom):
    follow(people[1], people[0])
    drain_all()
    made = cook(me, custom)
    assert own_data(made) == (TYPE, custom)
    drain_all()
    do(you, "reblog", made["id"])
    do(you, "bookmark", made["id"])
    quoting = you.post(STATUSES, {"status": "look", "quoted_status_id": made["id"]}).json()
    lists = you.post("/api/v1/lists", {"title": "x"}).json()["id"]
    you.post(f"/api/v1/lists/{lists}/accounts", {"account_ids": [str(people[0])]})
    drain_all()
    shown = [
        see(me, made["id"]),
        Client().get(f"{STATUSES}/{made['id']}").json(),
        quoting["quote"]["quoted_status"],
        see(you, quoting["id"])["quote"]["quoted_status"],
    ]
    for path in (
        "timelines/home", f"timelines/list/{lists}", "timelines/public", "timelines/tag/tea",
        f"accounts/{people[0]}/statuses", "bookmarks",
    ):  # fmt: skip
        page = you.get(f"/api/v1/{path}").json()
        shown += [each["reblog"] or each for each in page if not each["quote"]]
    found = me.get("/api/v2/search", {"q": "tea", "type": "statuses"}).json()["statuses"]
    shown += [each for each in found if each["id"] == made["id"]]
    assert len(shown) >= 10
    for status in shown:
        assert status["type"] == TYPE, status
        assert exact(status["custom"]) == exact(custom)
        assert status["content"].startswith("<p>hi ")
        assert (status["in_reply_to_id"], status["quote"], status["poll"]) == (None, None, None)


def test_an_own_act_and_a_filter_leave_it_as_it_is(people, me, you):
    made = cook(me, SPOOFED)
    words = {"title": "tea", "context": ["home"], "keywords_attributes": [{"keyword": "tea"}]}
    you.post("/api/v2/filters", words)
    assert do(you, "favourite", made["id"])["favourites_count"] == 1
    shown = see(you, made["id"])  # the change is pending
    assert shown["favourites_count"] == 1
    assert shown["filtered"]
    assert exact(shown["custom"]) == exact(SPOOFED)
    deleted = me.delete(f"{STATUSES}/{made['id']}").json()
    assert exact(deleted["custom"]) == exact(SPOOFED)


def test_a_status_has_neither_and_costs_what_it_did(me, people):
    plain = me.post(STATUSES, {"status": "hi", "type": "status"}).json()
    assert "type" not in plain
    assert "custom" not in plain
    cook(me)
    with count_calls() as first:
        me.post(STATUSES, {"status": "hi #tea"})
    with count_calls() as typed:
        cook(me)
    assert (first.sql, first.round_trips, first.commands) == (
        typed.sql, typed.round_trips, typed.commands,
    )  # fmt: skip
    row = find_post_row(PostId.from_public(plain["id"]))
    fragment = encode_post(row)
    assert b"custom" not in fragment
    assert len(encode_post(row._replace(custom="{}"))) == len(fragment) + 34


def test_custom_without_a_type_is_of_a_status(me):
    made = me.post(STATUSES, {"status": "hi", "custom": {"a": 1}}).json()
    assert own_data(made) == own_data(see(me, made["id"])) == ("status", {"a": 1})


def test_an_answer_with_it_has_its_tag(me):
    made = cook(me)
    drain_all()
    see(me, made["id"])
    answer = me.get(f"{STATUSES}/{made['id']}")
    again = me.client.get(f"{STATUSES}/{made['id']}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    changed = {"status": "hi #tea", "custom": {"other": 1}}
    assert me.put(f"{STATUSES}/{made['id']}", changed).status_code == 200
    assert me.get(f"{STATUSES}/{made['id']}")["ETag"] != answer["ETag"]


def test_an_edit_changes_custom_keeps_the_type_and_the_history(me):
    post = cook(me)["id"]
    kept = me.put(f"{STATUSES}/{post}", {"status": "new"})
    assert own_data(kept.json()) == (TYPE, RECIPE)
    changed = me.put(f"{STATUSES}/{post}", {"status": "new", "custom": {"a": 2}, "type": TYPE})
    assert own_data(changed.json()) == own_data(see(me, post)) == (TYPE, {"a": 2})
    emptied = me.put(f"{STATUSES}/{post}", {"status": "new", "custom": {}})
    assert own_data(emptied.json()) == (TYPE, {})
    versions = me.get(f"{STATUSES}/{post}/history").json()
    assert [version["content"][3:6] for version in versions] == ["hi ", "new", "new", "new"]
    answer = me.put(f"{STATUSES}/{post}", {"status": "new", "type": "status"})
    assert answer.status_code == 422
    assert "type of a post cannot be changed" in answer.json()["error"]
    drain_all()
    assert own_data(see(me, post)) == (TYPE, {})


def test_an_edit_of_the_text_keeps_what_another_edit_wrote_before_it(me):
    post = cook(me)["id"]
    read = find_post_row(PostId.from_public(post))
    assert me.put(f"{STATUSES}/{post}", {"status": "hi", "custom": {"a": 2}}).status_code == 200
    assert edit_post(read, Draft("later"))
    for _ in range(2):
        shown = see(me, post)
        assert (shown["content"], shown["custom"]) == ("<p>later</p>", {"a": 2})
        drain_all()


def test_a_repeated_key_returns_the_first(me):
    first, again = (
        me.post(STATUSES, {"status": "hi", "custom": {"n": n}}, **{"Idempotency-Key": "k"}).json()
        for n in (1, 2)
    )
    assert first == again
    assert again["custom"] == {"n": 1}


def test_a_scheduled_post_keeps_both(me, people):
    sent = {"status": "later", "type": TYPE, "custom": RECIPE, "scheduled_at": "2036-01-01"}
    params = me.post(STATUSES, sent).json()["params"]
    assert own_data(params) == (TYPE, RECIPE)
    plain = me.post(STATUSES, {"status": "later", "scheduled_at": "2036-01-02"}).json()["params"]
    assert own_data(plain) == ("status", None)
    publish_due(shard_of(people[0]), 2_082_758_400_000)
    [published] = me.get(f"/api/v1/accounts/{people[0]}/statuses").json()
    assert own_data(published) == (TYPE, RECIPE)


def test_an_export_has_both(me, people, tmp_path):
    cook(me, SPOOFED)
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        for _ in write_archive(archive, people[0], b"{}"):
            pass
    with ZipFile(tmp_path / "a.zip") as archive:
        [line] = archive.read("posts.jsonl").splitlines()
    assert own_data(orjson.loads(line)) == (TYPE, SPOOFED)


def test_a_deleted_or_hidden_post_has_neither(me, people):
    columns = "SELECT post_type, custom FROM posts_post WHERE author_id = %s AND moment = %s"
    gone, hidden = (PostId.from_public(cook(me)["id"]) for _ in range(2))
    assert me.delete(f"{STATUSES}/{gone.public}").status_code == 200
    assert fetch_one(shard_of(people[0]), columns, (gone.author_id, gone.moment)) == (None, None)
    hide_post(hidden, NOW, 1)
    row = find_post_row(hidden)
    assert (row.post_type, row.custom) == (None, None)
    hide_post(hidden, None, 2)
    drain_all()
    assert own_data(see(me, hidden.public)) == (TYPE, RECIPE)


def nested(levels):
    return {"a": nested(levels - 1)} if levels > 1 else {}


def filled(size):
    """An object of so many bytes."""
    return {"a": "x" * (size - len(b'{"a":""}'))}


@pytest.mark.parametrize(
    "custom",
    [
        filled(MOST_BYTES),
        {"\u00fc" * 2_000: 1},  # 6 bytes each as many clients send it
        nested(MOST_LEVELS),
        {"": ""},
    ],
)
def test_what_just_fits(me, custom):
    sent = json.dumps({"status": "hi", "custom": custom}, indent=1)
    made = me.client.post(STATUSES, sent, "application/json")
    assert made.status_code == 200, made.content
    assert see(me, made.json()["id"])["custom"] == custom


BAD = {
    "a list": ("[1]", "must be a JSON object"),
    "a number": ("5", "must be a JSON object"),
    "false": ("false", "must be a JSON object"),
    "words": ('"words"', "JSON"),
    "a byte too many": (json.dumps(filled(MOST_BYTES + 1)), "more than 4,096 bytes"),
    "many blanks": ('{"a":' + " " * MOST_SENT_BYTES + "1}", "more than 4,096 bytes"),
    "too many bytes of few letters": (json.dumps({"a": "\u20ac" * 1_366}), "more than 4,096 bytes"),
    "too deep": (json.dumps(nested(MOST_LEVELS + 1)), "more than 8 levels"),
    "lists too deep": ('{"a":' + "[" * 8 + "]" * 8 + "}", "more than 8 levels"),
    "NUL": ('{"a":"\\u0000"}', "NUL"),
    "NUL in a name": ('{"a":{"\\u0000":1}}', "NUL"),
    "a name twice": ('{"a":1,"a":2}', "has a name twice"),
    "a name twice within": ('{"a":[{"b":1,"\\u0062":2}]}', "has a name twice"),
    "a huge integer": (f'{{"a":{2**53}}}', "send it as text"),
    "a negative one": (f'{{"a":[{-(2**53)}]}}', "send it as text"),
    "an integer of 100 digits": ('{"a":1' + "0" * 100 + "}", "integer"),
}
# The whole body is no JSON then: 400, as everywhere. A form has it as text: 422.
NO_JSON = {
    "NaN": ('{"a":NaN}', "NaN"),
    "Infinity": ('{"a":-Infinity}', "Infinity"),
    "a float too large": ('{"a":1e999}', "too large"),
    "half a pair": ('{"a":"\\ud800"}', "Unicode"),
    "a control character": ('{"a":"\n"}', "not valid JSON"),
    "cut off": ('{"a":', "not valid JSON"),
    "two": ("{}{}", "not valid JSON"),
    "very deep": ('{"a":' + "[" * 7_000 + "]" * 7_000 + "}", "8 levels"),
    "an integer of 5,000 digits": ('{"a":' + "1" * 5_000 + "}", "JSON"),
}


def send_json(caller, custom):
    body = f'{{"status":"hi","custom":{custom}}}'
    return caller.client.post(STATUSES, body.encode(), "application/json")


def send_form(caller, custom):
    return caller.client.post(STATUSES, urlencode({"status": "hi", "custom": custom}), FORM)


@pytest.mark.parametrize(
    ("name", "send", "statuses"),
    [(name, send_json, {422}) for name in BAD]
    + [(name, send_form, {422}) for name in BAD | NO_JSON]
    + [(name, send_json, {400, 422}) for name in NO_JSON],
)
def test_bad_custom_is_refused_and_stores_nothing(me, people, name, send, statuses):
    custom, text = (BAD | NO_JSON)[name]
    answer = send(me, custom)
    assert answer.status_code in statuses, answer.content
    error = answer.json()["error"]
    assert len(error) < 300
    assert answer.status_code == 400 or text in error, error
    count = "SELECT count(*) FROM posts_post WHERE author_id = %s"
    assert fetch_one(shard_of(people[0]), count, (people[0],)) == (0,)
    post = cook(me)["id"]
    edited = f'{{"status":"new","custom":{custom}}}'.encode()
    answer = me.client.put(f"{STATUSES}/{post}", edited, "application/json")
    assert answer.status_code in {400, 422}
    assert own_data(see(me, post)) == (TYPE, RECIPE)
    assert see(me, post)["content"].startswith("<p>hi")


@pytest.mark.parametrize(
    "form", ["custom[title]=Soup&custom[parts][]=a", "custom=%7B%22title%22%3A%22Soup%22%7D"]
)
def test_a_form_can_send_it(me, form):
    made = me.client.post(STATUSES, f"status=hi&type={TYPE}&{form}", FORM).json()
    assert made["type"] == TYPE
    assert made["custom"]["title"] == "Soup"


@pytest.mark.parametrize(
    "sent", ["recipe.burnt", "Recipe.cooked", "recipe", "a" * 500, 7, ["x"], {"a": 1}, "\x00"]
)
def test_an_unknown_type_is_refused_with_those_that_there_are(me, sent):
    answer = me.post(STATUSES, {"status": "hi", "type": sent})
    assert answer.status_code == 422
    assert answer.json()["error"] == f"Validation failed: type can be status, {TYPE}"


def test_a_known_type_needs_no_statement(me):
    cook(me)
    with count_calls() as calls:
        cook(me)
    assert "default" not in calls.sql


def test_a_known_type_outlives_the_default_database(me, monkeypatch):
    cook(me)
    known_types._known = known_types._known._replace(until=0.0)

    def away():
        raise OperationalError

    monkeypatch.setattr(known_types, "_read", away)
    assert cook(me)["type"] == TYPE
    answer = me.post(STATUSES, {"status": "hi", "type": "order.rated"})
    assert answer.status_code == 503
    assert me.post(STATUSES, {"status": "hi"}).status_code == 200


def test_a_removed_type_stays_on_its_posts(me):
    post = cook(me)["id"]
    execute("default", "DELETE FROM posts_posttype")
    assert me.put(f"{STATUSES}/{post}", {"status": "new"}).json()["type"] == TYPE


def test_a_service_posts_for_an_account(people):
    sent = {"status": "hi", "type": TYPE, "custom": RECIPE}
    made = Service().post(STATUSES, people[0], sent).json()
    assert own_data(made) == own_data(see(Caller(people[1]), made["id"])) == (TYPE, RECIPE)
