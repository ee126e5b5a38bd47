"""Filters over HTTP: who sees which results, at once and on every kind of page."""

# ruff: noqa: RUF001 - signs of other scripts are meant

import orjson
import pytest

from infra.caching.client import redis
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.posts.interacting import STATUSES, do, see
from tests.pictures import picture, upload
from tests.races import run_together
from tests.truth import assert_drained_truth
from tests.world import drain_all, forget_memory, publish

V2, V1 = "/api/v2/filters", "/api/v1/filters"
HOME = "/api/v1/timelines/home"


def make(caller: Caller, *words: str, status: int = 200, **more: object):
    keywords = [{"keyword": word} for word in words]
    body = {"title": "no", "context": ["home"], "keywords_attributes": keywords} | more
    answer = caller.post(V2, body)
    assert answer.status_code == status, answer.content
    return answer.json()


def put(caller: Caller, path: str, status: int = 200, **body: object):
    answer = caller.client.put(path, orjson.dumps(body), "application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def words_of(status) -> list[str]:
    return [word for result in status["filtered"] for word in result["keyword_matches"] or []]


@pytest.fixture
def filtered(people, me, you):
    """A post of ann's that bob's filter matches, and which bob and the third account follow."""
    for reader in people[1:]:
        follow(reader, people[0])
    make(you, "Spoiler")
    post = publish(people[0], "<b> a SPOILER & more").public
    drain_all()
    return post


@pytest.mark.parametrize(
    "path",
    [
        HOME,
        "/api/v1/timelines/public",
        "/api/v1/accounts/{author}/statuses",
        "/api/v1/statuses?id[]={post}",
    ],
)
def test_a_page_has_the_results_of_its_viewer_only(people, me, you, filtered, path):
    """Also when the page, or the post in it, is kept in process memory by another viewer's read."""
    other, path = Caller(people[2]), path.format(author=people[0], post=filtered)
    for _ in range(3):
        for caller, words in ((you, ["Spoiler"]), (other, []), (me, []), (you, ["Spoiler"])):
            (status,) = caller.get(path).json()
            assert words_of(status) == words
    assert caller.get(path).json()[0]["content"] == me.get(path).json()[0]["content"]


def test_each_change_is_seen_at_the_next_read(people, you, filtered):
    (rule,) = you.get(V2).json()
    seen = lambda: words_of(you.get(HOME).json()[0])  # noqa: E731
    keyword = rule["keywords"][0]
    assert seen() == ["Spoiler"]
    path = f"{V2}/keywords/{keyword['id']}"
    assert put(you, path, keyword="spoil")["whole_word"] is True
    assert seen() == []
    put(you, path, whole_word=False)
    assert seen() == ["spoil"]
    put(you, f"{V2}/{rule['id']}", keywords_attributes=[{"id": keyword["id"], "_destroy": True}])
    assert seen() == []
    you.post(f"{V2}/{rule['id']}/keywords", {"keyword": "& more"})
    assert seen() == ["& more"]
    redis().call("FLUSHDB")
    forget_memory()
    assert seen() == ["& more"]
    assert you.delete(f"{V2}/{rule['id']}").json() == {}
    assert seen() == []
    assert_drained_truth()


def test_a_filter_that_ends_stops_matching_also_on_a_kept_page(you, filtered):
    (rule,) = you.get(V2).json()
    ends = put(you, f"{V2}/{rule['id']}", expires_in="60")["expires_at"]
    assert ends.endswith("Z")
    assert words_of(you.get(HOME).json()[0]) == ["Spoiler"]
    put(you, f"{V2}/{rule['id']}", expires_in=0)
    assert words_of(you.get(HOME).json()[0]) == []
    assert put(you, f"{V2}/{rule['id']}", title="on")["expires_at"] is not None
    assert put(you, f"{V2}/{rule['id']}", expires_in="")["expires_at"] is None
    assert words_of(you.get(HOME).json()[0]) == ["Spoiler"]


def test_a_repost_and_an_interaction_have_the_results_too(me, you, people, filtered):
    (rule,) = you.get(V2).json()
    reblog = do(me, "reblog", filtered)
    assert reblog["filtered"] == []
    found = see(you, reblog["id"])
    assert words_of(found) == words_of(found["reblog"]) == ["Spoiler"]
    result = do(you, "favourite", filtered)["filtered"][0]
    assert result["filter"] == {k: v for k, v in rule.items() if k not in ("keywords", "statuses")}
    assert result["status_matches"] is None
    assert words_of(do(you, "reblog", filtered)["reblog"]) == ["Spoiler"]
    assert do(Caller(people[2]), "favourite", filtered)["filtered"] == []


def test_a_filtered_post_keeps_its_poll(you, me):
    make(you, "which")
    poll = {"options": ["a", "b"], "expires_in": 300}
    post = me.post(STATUSES, {"status": "Which?", "poll": poll}).json()
    found = see(you, post["id"])
    assert words_of(found) == ["which"]
    assert [option["title"] for option in found["poll"]["options"]] == ["a", "b"]


# A keyword, a text that it matches, and one that it does not.
WHOLE_WORDS = (
    ("東京", "私は東京に住む", "京東"),
    ("서울", "서울에서", "서 울"),
    ("tea東", "tea東京", "greentea東京"),
    ("tea", "熱いteaを飲む", "熱いteasを飲む"),
    ("हिन", "हिन, हाँ", "हिन्दी"),
    ("தமி", "தமி!", "தமிழ்"),
    ("กร", "กร ไทย", "กรุงเทพ"),
    ("café", "CAFE\u0301s, cafe\u0301", "cafés cafe"),
    ("می", "«می»", "می\u200cخواهم"),
    ("e", "x e\u200b", "e\u0331 é"),
    ("#tag", "x#Tag", "#tags"),
    ("straße", "STRASSE", "straßen"),
    ("a b", "x a b.", "a bc a  b"),
    ("ﬁn", "FIN", "fins"),
)


def test_a_whole_word_of_any_script(you, people):
    for keyword, matches, misses in WHOLE_WORDS:
        rule = make(you, keyword)
        found, missed = (publish(people[0], text).public for text in (matches, misses))
        words = words_of(see(you, found)), words_of(see(you, missed))
        assert words == ([keyword], []), keyword
        you.delete(f"{V2}/{rule['id']}")


def test_every_text_of_a_post_is_searched(you, me):
    make(you, "warned", "told", "chosen", "drawn")
    image = me.client.post("/api/v2/media", {"file": upload(picture()), "description": "Drawn"})
    poll = {"options": ['a "Chosen" \\', "b"], "expires_in": 300}
    for word, sent in {
        "warned": {"spoiler_text": "Warned", "status": "x"},
        "told": {"status": "Told"},
        "chosen": {"status": "x", "poll": poll},
        "drawn": {"status": "x", "media_ids": [image.json()["id"]]},
    }.items():
        post = me.post(STATUSES, sent).json()
        assert words_of(see(you, post["id"])) == [word]
        assert words_of(see(you, do(you, "reblog", post["id"])["id"])) == [word]
    assert see(me, post["id"])["filtered"] == []


def test_an_option_that_an_edit_adds_is_searched(you, me):
    make(you, "chosen")
    poll = {"options": ["a", "b"], "expires_in": 300}
    path = f"{STATUSES}/{me.post(STATUSES, {'status': 'x', 'poll': poll}).json()['id']}"
    assert words_of(you.get(path).json()) == []
    edit = orjson.dumps({"status": "x", "poll": poll | {"options": ["a", "Chosen"]}})
    assert me.client.put(path, edit, "application/json").status_code == 200
    found = you.get(path).json()
    assert words_of(found) == ["chosen"]
    assert found["poll"]["options"][1]["title"] == "Chosen"


def test_keywords_that_are_too_long_together_are_refused(me):
    rule = make(me, *("x" * 500 for _ in range(6)))
    make(me, "y", status=422)
    for path, body in (
        (f"{V2}/{rule['id']}/keywords", {"keyword": "y"}),
        (V1, {"phrase": "y", "context": ["home"]}),
    ):
        refused = me.post(path, body)
        assert (refused.status_code, "3000 characters" in refused.json()["error"]) == (422, True)
    assert len(me.get(V1).json()) == 6


def test_a_post_is_filtered_by_its_id(you, people):
    post = publish(people[0], "hello").public
    rule = make(you)
    added = you.post(f"{V2}/{rule['id']}/statuses", {"status_id": post}).json()
    assert you.post(f"{V2}/{rule['id']}/statuses", {"status_id": post}).json() == added
    assert see(you, post)["filtered"][0]["status_matches"] == [post]
    assert see(you, post)["filtered"][0]["keyword_matches"] is None
    path = f"{V2}/statuses/{added['id']}"
    assert you.get(path).json() == you.get(f"{V2}/{rule['id']}/statuses").json()[0] == added
    assert you.delete(path).json() == {}
    assert see(you, post)["filtered"] == []
    assert you.post(f"{V2}/{rule['id']}/statuses", {"status_id": "1" * 15}).status_code == 404


def test_old_clients_see_and_change_keywords(me, people):
    form = {"phrase": "cat", "context[]": ["home", "thread"], "irreversible": "true"}
    made = me.client.post(V1, form).json()
    assert (made["phrase"], made["irreversible"], made["whole_word"]) == ("cat", True, True)
    assert me.get(f"{V1}/{made['id']}").json() == me.get(V1).json()[0] == made
    assert put(me, f"{V1}/{made['id']}", phrase="dog", whole_word=False)["phrase"] == "dog"
    (rule,) = me.get(V2).json()
    assert (rule["title"], rule["filter_action"]) == ("dog", "hide")
    me.post(f"{V2}/{rule['id']}/keywords", {"keyword": "fox"})
    assert "more than one" in put(me, f"{V1}/{made['id']}", 422, irreversible=False)["error"]
    assert put(me, f"{V1}/{made['id']}", whole_word=True)["whole_word"] is True
    for keyword in me.get(V1).json():
        assert me.delete(f"{V1}/{keyword['id']}").json() == {}
    assert me.get(V2).json() == []


def test_filters_of_others_do_not_exist(me, you):
    rule = make(you, "x")
    keyword = f"{V2}/keywords/{rule['keywords'][0]['id']}"
    for path in (f"{V2}/{rule['id']}", keyword, f"{V2}/{rule['id']}/statuses", f"{V2}/x"):
        assert me.get(path).status_code == 404
    assert me.delete(keyword).status_code == me.delete(f"{V2}/{rule['id']}").status_code == 404
    mine = make(me, "y")
    edit = [{"id": rule["keywords"][0]["id"], "keyword": "z"}]
    put(me, f"{V2}/{mine['id']}", 404, keywords_attributes=edit)


def test_what_is_no_filter_is_refused(me):
    for change in [
        {"title": " "},
        {"title": "x" * 257},
        {"context": []},
        {"context": ["nowhere"]},
        {"context": {"a": "home"}},
        {"filter_action": "burn"},
        {"expires_in": "soon"},
        {"expires_in": -1},
        {"keywords_attributes": ["x"]},
        {"keywords_attributes": [{"keyword": ""}]},
        {"keywords_attributes": [{"keyword": "x" * 513}]},
        {"keywords_attributes": [{"keyword": "\0"}]},
        {"keywords_attributes": [{"keyword": str(n)} for n in range(201)]},
    ]:
        make(me, status=422, **change)
        assert me.get(V2).json() == [], change


def test_a_form_of_rails_makes_the_same_filter(me):
    form = {
        "title": "t",
        "context[]": ["home", "public"],
        "keywords_attributes[][keyword]": ["a", "b"],
        "keywords_attributes[][whole_word]": ["0", "1"],
    }
    made = me.client.post(V2, form).json()
    assert [(one["keyword"], one["whole_word"]) for one in made["keywords"]] == [
        ("a", False),
        ("b", True),
    ]


def test_filters_made_at_once_do_not_exceed_the_limit(me, monkeypatch):
    monkeypatch.setattr("posts.filters.account_filters.MOST_FILTERS", 2)
    run_together(lambda n=n: me.post(V2, {"title": f"{n}", "context": ["home"]}) for n in range(4))
    assert len({one["id"] for one in me.get(V2).json()}) == 2
    assert_drained_truth()


def test_filters_cost_neither_queries_nor_round_trips(people, me, you, filtered):
    def cost(caller: Caller):
        for _ in range(2):
            caller.get(HOME)
        with count_calls() as calls:
            caller.get(HOME)
        return len(calls.statements), calls.round_trips

    assert cost(you) == cost(Caller(people[2]))
