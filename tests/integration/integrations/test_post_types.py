"""Types of posts that services declare, over HTTP, and posts with them in the change feed."""

import pytest

from infra import declarations
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from integrations.api.schema import LONGEST_WORDS, MOST_LANGUAGES
from posts.actions.declare_type import MOST_TYPES, declare_type
from posts.queries.post_types import known_types
from tests.callers import Caller, assert_refused
from tests.delivered import deliver_all
from tests.integration.integrations.services import Service
from tests.integration.integrations.test_events import of, position_now, publish, read_all
from tests.integration.posts.interacting import STATUSES, see
from tests.races import failures, run_together
from tests.world import make_account

PATH, TYPE = "/api/v1/services/post_types", "recipe.cooked"
WORDS = {"en": "cooked", "de": "gekocht", "pt-BR": "cozinhou"}


@pytest.fixture
def service(world):
    return Service("service:write")


def declare(service, name=TYPE, words=WORDS):
    return service.put(f"{PATH}/{name}", {"words": words})


def send(me, name=TYPE):
    return me.post(STATUSES, {"status": "hi", "type": name, "custom": {"minutes": 40}})


def test_a_type_is_declared_used_changed_and_removed(service, me):
    assert service.get(PATH).json() == []
    assert_refused(send(me), 422)
    for words in (WORDS, WORDS, {"en": "made"}):
        answer = declare(service, words=words)
        assert (answer.status_code, answer.json()) == (200, {"name": TYPE, "words": words})
    declare(service, "order.rated")
    assert service.get(PATH).json() == [
        {"name": "order.rated", "words": WORDS},
        {"name": TYPE, "words": {"en": "made"}},
    ]
    post = send(me).json()["id"]
    for _ in range(2):
        answer = service.delete(f"{PATH}/{TYPE}")
        assert (answer.status_code, answer.json()) == (200, {})
    refused = send(me)
    assert refused.status_code == 422
    assert refused.json()["error"] == "Validation failed: type can be status, order.rated"
    assert see(me, post)["type"] == TYPE


def test_what_another_process_declared_holds_at_once_and_what_it_removed_soon(
    service, me, monkeypatch
):
    with_clock = [1_000.0]
    monkeypatch.setattr(declarations.time, "monotonic", lambda: with_clock[0])
    declare(service)
    assert send(me).status_code == 200
    known = known_types._known
    service.delete(f"{PATH}/{TYPE}")
    known_types._known = known  # as in another process
    assert send(me).status_code == 200
    with_clock[0] += declarations.IN_PROCESS_S
    assert send(me).status_code == 422
    declare(service)
    assert send(me).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "status", "recipe", "Recipe.cooked", "recipe.", ".cooked", "recipe..cooked", "1.a", "a.1",
        "r\u00e9cipe.cooked", "a b.c", "a." + "b" * 63, "a.b%0A", "%00.a",
    ],
)  # fmt: skip
def test_a_bad_name_is_refused(service, name):
    answer = declare(service, name)
    assert_refused(answer, 422)
    assert "like recipe.cooked" in answer.json()["error"]
    assert_refused(service.delete(f"{PATH}/{name}"), 422)


@pytest.mark.parametrize(
    "words",
    [
        {}, None, [], "cooked", 5, {"": "x"}, {"english please": "x"}, {"en": ""}, {"en": "  "},
        {"en": 5}, {"en": None}, {"en": {"a": "b"}}, {"en": "x" * (LONGEST_WORDS + 1)},
        {"en": "\x00"}, {f"a{chr(97 + n)}": "x" for n in range(MOST_LANGUAGES + 1)},
    ],
)  # fmt: skip
def test_bad_words_are_refused(service, words):
    assert_refused(declare(service, words=words), 422)
    assert service.get(PATH).json() == []


def test_there_are_so_many_at_most(service):
    for number in range(MOST_TYPES):
        assert declare(service, f"a.b{number}").status_code == 200
    refused = declare(service)
    assert_refused(refused, 422)
    assert "At most 50 types" in refused.json()["error"]
    assert declare(service, "a.b0", {"en": "x"}).status_code == 200
    service.delete(f"{PATH}/a.b1")
    assert declare(service).status_code == 200


def test_the_limit_is_exact_while_all_are_declared_at_once(world):
    names = [f"a.b{number}" for number in range(MOST_TYPES + 4)]
    for name in names[: MOST_TYPES - 2]:
        declare_type(name, WORDS)
    calls = [lambda n=n: declare_type(n, WORDS) for n in names[MOST_TYPES - 2 :]]
    assert len(failures(run_together(calls))) == 4
    assert fetch_one(GLOBAL_ALIAS, "SELECT count(*) FROM posts_posttype") == (MOST_TYPES,)


def test_only_a_service_that_writes_may(world, me):
    assert_refused(declare(Service("service:read")), 403)
    assert_refused(Service().put(f"{PATH}/{TYPE}", {"words": WORDS}, me.id), 403)
    assert_refused(me.put(f"{PATH}/{TYPE}", {"words": WORDS}), 403)
    assert_refused(me.get(PATH), 403)


def test_the_feed_names_the_type_and_the_post_has_the_rest(world):
    reader, service, ann = Caller(None, "service:changes"), Service(), make_account()
    declare(service)
    deliver_all()
    start = position_now(reader)
    post = publish(ann, type=TYPE, custom={"minutes": 40})
    publish(ann)
    deliver_all()
    events, _ = read_all(reader, start)
    typed, plain = (data for name, data in of(events, ann) if name == "post.created")
    assert (typed["post_id"], typed["type"]) == (post, TYPE)
    assert "type" not in plain
    assert service.get(f"{STATUSES}/{post}", ann).json()["custom"] == {"minutes": 40}
