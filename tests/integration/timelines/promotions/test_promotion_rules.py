"""Which viewer sees which promotion, over HTTP: blocks, mutes, deletes, own posts, no Redis."""

from typing import Any
from unittest.mock import Mock, patch

import orjson
import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.questions import Question
from infra.caching.single import SingleClient
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.ids import EPOCH, PostId
from posts.types import Draft, Kind
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute, unmute
from tests.budgets import Calls, count_calls
from tests.callers import Caller, next_link
from tests.integration.timelines.promotions.campaigns import AD, refresh, run_campaign
from tests.people import cast
from tests.world import drain_all, publish
from timelines.promotions import blend, hydrate
from timelines.promotions.models import Campaign

HOME = "/api/v1/timelines/home"


people = cast(4, follows=1)


@pytest.fixture
def reading(people: list[int]) -> list[int]:
    """The first reads ten posts of the second."""
    for n in range(10):
        publish(people[1], clock_s=lambda n=n: EPOCH + 100 + n)
    drain_all()
    return people


@pytest.fixture
def sold(reading: list[int]) -> PostId:
    post = publish(reading[2], "buy tea")
    drain_all()
    return post


def promoted(viewer_id: int, query: str = "") -> list[dict[str, Any]]:
    answer = Caller(viewer_id).get(HOME + query)
    assert answer.status_code == 200
    items = orjson.loads(answer.content)
    assert len([item for item in items if "promoted" not in item]) == 10
    return [item for item in items if "promoted" in item]


def test_promoted_post_is_a_status_that_shows_it(reading, sold):
    campaign = run_campaign(post_id=sold.base36, slot=2)
    mark_post(reading[0], sold, Kind.FAVOURITE, is_on=True)
    answer = orjson.loads(Caller(reading[0]).get(HOME).content)
    item = answer[2]
    assert (item["promoted"], item["campaign"], item["type"]) == (True, str(campaign), "post")
    assert answer[1]["id"] > item["id"] > answer[3]["id"]
    assert item["account"]["id"] == str(reading[2])
    assert item["reblog"]["id"] == sold.public
    assert item["reblog"]["content"] == "<p>buy tea</p>"
    assert item["reblog"]["favourited"] is True
    assert item.keys() - {"promoted", "campaign", "type"} == item["reblog"].keys()


def test_the_type_of_a_promoted_post_is_in_the_post_that_it_shows(reading):
    typed = Draft("soup", post_type="recipe.cooked", custom='{"minutes":40}')
    run_campaign(post_id=create_post(reading[2], typed).base36)
    drain_all()
    [item] = promoted(reading[0])
    assert (item["type"], "custom" in item) == ("post", False)
    assert (item["reblog"]["type"], item["reblog"]["custom"]) == ("recipe.cooked", {"minutes": 40})


def test_accounts_and_ads_are_sent_to_who_asks(reading):
    run_campaign(account_id=reading[2], slot=2, every=1)
    run_campaign(slot=2, every=1)
    assert promoted(reading[0]) == []
    found = {item["type"]: item for item in promoted(reading[0], "?all_promotions=true")}
    assert found["account"]["account"]["id"] == str(reading[2])
    assert found["ad"]["ad"] == {"title": "Tea", "text": "Hot tea", "url": AD["ad_url"]}
    answer = Caller(reading[0]).get(HOME + "?all_promotions=true&limit=4")
    assert "all_promotions=true" in str(next_link(answer))


@pytest.mark.parametrize("kind", ["post", "account"])
@pytest.mark.parametrize("act", ["block", "blocked", "mute"])
def test_blocks_and_mutes_hold_at_the_next_page(reading, sold, kind, act):
    me, seller = reading[0], reading[2]
    target = {"post_id": sold.base36} if kind == "post" else {"account_id": seller}
    run_campaign(**target)
    assert len(promoted(me, "?all_promotions=1")) == 1
    if act == "mute":
        mute(me, seller)
    else:
        block(*((me, seller) if act == "block" else (seller, me)))
    if act == "blocked":
        drain_all()  # the other shard has to hear of it
    assert promoted(me, "?all_promotions=1") == []
    assert len(promoted_of_somebody(reading[3], reading[1])) == 1


def promoted_of_somebody(viewer_id: int, author_id: int) -> list[dict[str, Any]]:
    follow(viewer_id, author_id)
    drain_all()
    return promoted(viewer_id, "?all_promotions=1")


def test_what_the_rules_refuse_makes_room_for_others(reading, sold):
    mute(reading[0], reading[2])
    refused = run_campaign(post_id=sold.base36)
    other = run_campaign(post_id=publish(reading[3]).base36)
    drain_all()
    pages = [[item["campaign"] for item in promoted(reading[0])] for _ in range(2)]
    assert [str(other)] in pages
    assert pages[1] == [str(other)]
    assert str(refused) not in pages[0]


def test_deleted_post(reading, sold):
    run_campaign(post_id=sold.base36)
    assert len(promoted(reading[0])) == 1
    delete_post(sold)
    assert promoted(reading[0]) == []


def test_post_of_nobody_and_unknown_account_are_left_out(reading):
    run_campaign(post_id=PostId(9, 999_999, 0).base36)
    run_campaign(account_id=999_999)
    assert promoted(reading[0], "?all_promotions=1") == []


def test_own_post_and_own_account_are_not_promoted_to_their_owner(reading):
    run_campaign(account_id=reading[0])
    assert promoted(reading[0], "?all_promotions=1") == []


def test_whom_one_follows_is_not_suggested(reading):
    run_campaign(account_id=reading[1])
    assert promoted(reading[0], "?all_promotions=1") == []


def test_what_stands_on_the_page_by_itself_is_not_inserted(reading):
    (first, *_) = orjson.loads(Caller(reading[0]).get(HOME).content)
    run_campaign(post_id=PostId.from_public(first["id"]).base36)
    assert promoted(reading[0]) == []


@pytest.mark.parametrize("share", [0, 100])
def test_audience(reading, sold, share):
    run_campaign(post_id=sold.base36, audience_percent=share)
    assert len(promoted(reading[0])) == share / 100


def test_warm_page_costs_one_round_trip_more_and_no_sql(reading, sold):
    caller = Caller(reading[0])
    plain = warm_calls(caller)
    run_campaign(post_id=sold.base36)
    blended = warm_calls(caller)
    assert not plain.sql + blended.sql
    assert blended.round_trips == plain.round_trips + 1


def warm_calls(caller: Caller) -> Calls:
    for _ in range(3):
        caller.get(HOME)
    with count_calls() as calls:
        caller.get(HOME)
    return calls


def test_without_redis_pages_come_without_promotions(reading, sold):
    run_campaign(post_id=sold.base36)
    away = RedisConnectionError("away")
    with patch.object(blend, "place_and_hydrate", side_effect=away):
        assert promoted(reading[0]) == []
    with patch.object(SingleClient, "run", side_effect=away), count_calls() as calls:
        assert promoted(reading[0]) == []
    assert not [s for s in calls.statements if sold.author_id in _flat(s.params)]


def _flat(params: Any) -> list[Any]:
    values = params.values() if isinstance(params, dict) else params or ()
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


@pytest.mark.parametrize("part", ["ask_posts", "ask_accounts", "ask_relationships"])
def test_shard_of_what_is_promoted_is_away(reading, sold, part):
    """The page is answered, and no impression is used: the promotion is shown later."""
    run_campaign(post_id=sold.base36, total_cap=1)
    away = Question((), Mock(side_effect=OperationalError("away")))
    with patch.object(hydrate, part, return_value=away):
        assert promoted(reading[0]) == []
    assert len(promoted(reading[0])) == 1
    assert promoted_of_somebody(reading[3], reading[1]) == []


def test_what_was_refused_is_not_shown_later_without_being_counted(reading, sold):
    run_campaign(post_id=sold.base36, total_cap=1, daily_cap=1)
    mute(reading[0], reading[2])
    assert promoted(reading[0]) == []
    assert len(promoted_of_somebody(reading[3], reading[1])) == 1
    unmute(reading[0], reading[2])
    blend._refused.clear()
    assert promoted(reading[0]) == []
    Campaign.objects.update(total_cap=2)
    refresh()
    assert len(promoted(reading[0])) == 1, "it did not count towards the day either"


def add_filter(account_id, action, context=("home",), **fields):
    sent = {"title": "Tea", "context": context, "filter_action": action, **fields}
    answer = Caller(account_id).post("/api/v2/filters", sent)
    assert answer.status_code == 200, answer.content
    drain_all()
    return answer.json()["id"]


WORDS = {"keywords_attributes": [{"keyword": "tea", "whole_word": True}]}


def test_a_post_that_a_filter_hides_at_home_is_not_promoted(reading, sold):
    run_campaign(post_id=sold.base36)
    assert len(promoted(reading[0])) == 1
    add_filter(reading[0], "hide", **WORDS)
    assert promoted(reading[0]) == []


def test_a_filter_that_names_the_post_hides_its_promotion(reading, sold):
    run_campaign(post_id=sold.base36)
    filter_id = add_filter(reading[0], "hide")
    path = f"/api/v2/filters/{filter_id}/statuses"
    assert Caller(reading[0]).post(path, {"status_id": sold.public}).status_code == 200
    drain_all()
    assert promoted(reading[0]) == []


def test_a_filter_that_warns_is_named_with_the_promotion(reading, sold):
    run_campaign(post_id=sold.base36)
    add_filter(reading[0], "warn", **WORDS)
    (item,) = promoted(reading[0])
    assert [result["keyword_matches"] for result in item["filtered"]] == [["tea"]]
    assert item["reblog"]["filtered"] == item["filtered"]


def test_a_filter_of_other_timelines_hides_no_promotion(reading, sold):
    run_campaign(post_id=sold.base36)
    add_filter(reading[0], "hide", ["public"], **WORDS)
    assert len(promoted(reading[0])) == 1
