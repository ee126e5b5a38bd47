"""The change feed over HTTP: what happened on the whole site, from a position on."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.conf import settings
from django.db import OperationalError

from accounts.actions.sign_up import sign_up
from accounts.types import NewUser
from infra.changes.feed import read_feed
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from integrations import events as mapped
from integrations.positions import PositionInvalid, decode_position, encode_position
from integrations.queries import events as events_module
from integrations.queries.events import read_events, site_position_now
from integrations.types import SitePosition
from moderation.actions.by_owner import delete_own_account
from moderation.types import DecisionKind
from moderation.verbs import PurgeAccounts
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.delivered import deliver_all
from tests.integration.integrations.services import Service
from tests.integration.jobs.outcomes import Outcome
from tests.people import decide
from tests.reconciling import make_on
from tests.sign_ups import PASSWORD
from tests.waiting import until
from tests.world import make_account, make_accounts

PATH = "/api/v1/services/events"
# The statement that asks for the ids of the product.
EXTERNAL_IDS = 1


@pytest.fixture
def service(world):
    deliver_all()
    return Caller(None, "service:changes")


def read(service, after="", **query):
    answer = service.get(PATH, {"after": after, **query})
    assert answer.status_code == 200, answer.content
    return answer.json()


def position_now(service):
    return read(service)["position"]


def read_all(service, after, limit=100):
    """All events from here on, and the position behind them."""
    events, has_more = [], True
    while has_more:
        page = read(service, after, limit=limit)
        after, has_more = page["position"], page["has_more"]
        events += page["events"]
    return events, after


def of(events, account_id):
    return [
        (event["type"], event["data"])
        for event in events
        if event["data"]["account_id"] == str(account_id)
    ]


def types_of(events, account_id):
    return [name for name, _ in of(events, account_id)]


def act(account_id, path, body=None):
    answer = Caller(account_id, "read write follow").post(f"/api/v1/{path}", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def publish(account_id, **options):
    return act(account_id, "statuses", {"status": "hello", **options})["id"]


def test_a_quote_and_its_revocation(service):
    ann, ben = make_accounts(2)
    start = position_now(service)
    post = publish(ann)
    quoting = publish(ben, quoted_status_id=post)
    act(ann, f"statuses/{post}/quotes/{quoting}/revoke")
    deliver_all()
    events, _ = read_all(service, start)
    [(_, created), revoked] = of(events, ben)
    assert created["quote_of_id"] == post
    data = {"account_id": str(ben), "post_id": quoting, "quote_of_id": post}
    assert revoked == ("quote.revoked", data)


def test_posts_with_what_they_are_about(service):
    ann, ben = make_accounts(2)
    start = position_now(service)
    post = publish(ann)
    reply = publish(ben, in_reply_to_id=post, visibility="unlisted")
    repost = act(ben, f"statuses/{post}/reblog")["id"]
    deliver_all()
    assert Caller(ann).delete(f"/api/v1/statuses/{post}").status_code == 200
    deliver_all()
    events, _ = read_all(service, start)
    about = {"reblog_of_id": None, "in_reply_to_id": None, "quote_of_id": None}
    about["visibility"] = "public"
    data = {"account_id": str(ann), "post_id": post} | about
    assert of(events, ann) == [("post.created", data), ("post.deleted", data)]
    of_ben = {data["post_id"]: data for name, data in of(events, ben) if name == "post.created"}
    assert of_ben[reply]["in_reply_to_id"] == of_ben[repost]["reblog_of_id"] == post
    assert of_ben[reply]["visibility"] == "unlisted"
    assert types_of(events, ben).count("post.deleted") == 1  # the repost of the deleted post


def test_relations_and_marks_have_their_present_state(service):
    ann, ben = make_accounts(2)
    post = publish(ann)
    start = position_now(service)
    act(ben, f"accounts/{ann}/follow")
    act(ben, f"statuses/{post}/favourite")
    act(ann, f"statuses/{post}/pin")
    deliver_all()
    events, middle = read_all(service, start)
    (_, relation), (_, favourite) = sorted(of(events, ben), reverse=True)
    assert relation.pop("since_ms") > 0
    assert relation == {
        "account_id": str(ben),
        "target_id": str(ann),
        "following": True,
        "requested": False,
        "blocking": False,
    }
    assert favourite == {"account_id": str(ben), "post_id": post, "favourite": True}
    assert ("pin.changed", {"account_id": str(ann), "post_id": post, "pin": True}) in of(
        events, ann
    )
    act(ben, f"accounts/{ann}/block")
    act(ben, f"statuses/{post}/unfavourite")
    deliver_all()
    again, _ = read_all(service, start)
    states = [data for name, data in of(again, ben) if name == "relation.changed"]
    assert [(data["following"], data["blocking"]) for data in states] == [(False, True)] * 2
    later, _ = read_all(service, middle)
    assert [data.get("favourite") for name, data in of(later, ben) if "fav" in name] == [False]


def test_accounts(service):
    start = position_now(service)
    ann = sign_up(NewUser("ann_new", "ann@example.org", PASSWORD), datetime.now(UTC))
    answer = Caller(ann, "write").client.patch(
        "/api/v1/accounts/update_credentials", {"display_name": "Ann"}, "application/json"
    )
    assert answer.status_code == 200
    deliver_all()
    created, updated = of(read_all(service, start)[0], ann)
    assert created == ("account.created", {"account_id": str(ann), "username": "ann_new"})
    assert updated == ("account.updated", {"account_id": str(ann)})


def test_what_is_private_is_no_event(service):
    ann, ben = make_accounts(2)
    post = publish(ann)
    deliver_all()
    start = position_now(service)
    act(ben, f"statuses/{post}/bookmark")
    act(ben, f"accounts/{ann}/mute")
    act(ben, f"accounts/{ann}/note", {"comment": "a secret"})
    deliver_all()
    assert of(read_all(service, start)[0], ben) == []


def test_pages_lose_and_repeat_nothing(service):
    people = make_accounts(12)
    start = position_now(service)
    posts = {publish(each) for each in people for _ in range(3)}
    deliver_all()
    for limit in (1, 2, 7, 1_000):
        events, _ = read_all(service, start, limit)
        created = [e["data"]["post_id"] for e in events if e["type"] == "post.created"]
        assert sorted(created) == sorted(posts), limit
        assert len({event["id"] for event in events}) == len(events)


def test_a_page_that_is_read_again_is_the_same(service):
    (ann,) = make_accounts(1)
    start = position_now(service)
    publish(ann)
    deliver_all()
    assert read(service, start)["events"] == read(service, start)["events"] != []


def test_oldest_begins_with_what_is_kept(service):
    (ann,) = make_accounts(1)
    post = publish(ann)
    deliver_all()
    events, _ = read_all(service, "oldest")
    assert post in {event["data"].get("post_id") for event in events}


def test_a_position_that_is_too_old_has_its_own_error(service):
    old = datetime.now(UTC) - timedelta(days=settings.CHANGE_REPLAY_DAYS + 2)
    now = decode_position(position_now(service)).by_alias
    after = {alias: each._replace(complete_at=old) for alias, each in now.items()}
    answer = service.get(PATH, {"after": encode_position(SitePosition(after))})
    assert_refused(answer, 410)
    assert answer.json()["code"] == "position_too_old"


def test_a_lost_position_has_its_own_error(service):
    (ann,) = make_accounts(1)
    publish(ann)
    deliver_all()
    now = decode_position(read_all(service, "oldest")[1]).by_alias
    after = {alias: each._replace(sequence=each.sequence + 1_000) for alias, each in now.items()}
    answer = service.get(PATH, {"after": encode_position(SitePosition(after))})
    assert_refused(answer, 410)
    assert answer.json()["code"] == "position_lost"


@pytest.mark.parametrize("after", ["x", "!!", "gaFh", "a" * 40_000, "é", "\x00", "wA=="])
def test_another_text_is_not_a_position(service, after):
    assert_refused(service.get(PATH, {"after": after}), 422 if after == "\x00" else 400)


def test_a_position_with_one_changed_letter_is_refused(service):
    (ann,) = make_accounts(1)
    publish(ann)
    deliver_all()
    text = position_now(service)
    for place, letter in enumerate(text):
        other = "A" if letter != "A" else "B"
        wrong = f"{text[:place]}{other}{text[place + 1 :]}"
        with pytest.raises(PositionInvalid):
            decode_position(wrong)
    assert_refused(
        service.get(PATH, {"after": f"{text[:-1]}{'A' if text[-1] != 'A' else 'B'}"}), 400
    )


def test_a_new_shard_is_read_from_its_beginning(service):
    (ann,) = make_accounts(1)
    publish(ann)
    deliver_all()
    known = dict(decode_position(position_now(service)).by_alias)
    del known[shard_of(ann)]
    events, _ = read_all(service, encode_position(SitePosition(known)))
    assert "post.created" in types_of(events, ann)


def test_a_database_that_is_down_delays_its_own_events_only(service, monkeypatch):
    people = make_accounts(8)
    start = position_now(service)
    for each in people:
        publish(each)
    deliver_all()
    down = shard_of(people[0])

    def fail(alias, after, limit):
        if alias == down:
            raise OperationalError("down")
        return read_feed(alias, after, limit)

    monkeypatch.setattr(events_module, "read_feed", fail)
    page = read(service, start)
    assert page["missing"] == [down]
    assert {shard_of(int(e["data"]["account_id"])) for e in page["events"]}.isdisjoint({down})
    monkeypatch.undo()
    events, _ = read_all(service, page["position"])
    assert {shard_of(int(e["data"]["account_id"])) for e in events} == {down}


def test_a_shard_whose_states_cannot_be_read_is_read_again(service, monkeypatch):
    ann, ben = make_accounts(2)
    start = position_now(service)
    act(ben, f"accounts/{ann}/follow")
    deliver_all()

    def fail(pairs):
        if list(pairs):
            raise OperationalError("down")
        return {}

    monkeypatch.setattr(mapped, "load_edges", fail)
    page = read(service, start, limit=1)
    assert page["missing"]
    assert not page["has_more"]  # else readers ask again at once, and for nothing
    monkeypatch.undo()
    assert types_of(read_all(service, page["position"])[0], ben) == ["relation.changed"]


def test_what_this_release_does_not_know_stops_nothing(service):
    (ann,) = make_accounts(1)
    start = position_now(service)
    post = publish(ann)
    deliver_all()
    for number, kind in enumerate(("posts.sung", "posts.deleted")):
        execute(shard_of(ann), FILE, (5_000_000 + number, kind, ann))
    events, _ = read_all(service, start)
    assert ("post.created", post) in [(e["type"], e["data"].get("post_id")) for e in events]
    assert "post.deleted" not in types_of(events, ann)


FILE = """
INSERT INTO changes_delivered
    (delivered_on, id, lane, kind, owner_id, payload, created_at, delivered_at)
VALUES (now()::date, %s, 0, %s, %s, '{"moment": "of another release"}', now(), now())
"""


def test_only_a_service_reads_it(service):
    (ann,) = make_accounts(1)
    assert_refused(Caller(ann).get(PATH), 403)
    assert_refused(Caller(None, "read").get(PATH), 403)
    assert_refused(Caller(ann, "service:changes").get(PATH), 403)


def test_a_page_asks_each_database_once(service):
    ann, ben = make_accounts(2)
    start = position_now(service)
    publish(ann)
    deliver_all()
    read(service, start)
    with count_calls() as calls:
        read(service, start)
    assert len(calls.statements) == len(settings.SHARD_ALIASES) + 1 + EXTERNAL_IDS
    act(ben, f"accounts/{ann}/follow")
    deliver_all()
    with count_calls() as calls:
        read(service, start)
    assert len(calls.statements) == len(settings.SHARD_ALIASES) + 2 + EXTERNAL_IDS


def test_the_end_of_an_account_is_told_at_once(service):
    (ann,) = make_accounts(1)
    publish(ann)
    deliver_all()
    start = position_now(service)
    delete_own_account(ann, datetime.now(UTC))
    deliver_all()
    events, start = read_all(service, start)
    assert of(events, ann) == [("account.deleted", {"account_id": str(ann)})]
    decide(ann, DecisionKind.RESTORE)
    decide(ann, DecisionKind.SUSPEND)
    deliver_all()
    events, start = read_all(service, start)
    assert types_of(events, ann) == ["account.moderated"] * 2
    delete_own_account(ann, datetime.now(UTC))
    assert Outcome(PurgeAccounts(), "--account", str(ann), "--yes").code == 0
    deliver_all()
    events, _ = read_all(service, start)
    assert types_of(events, ann)[:2] == ["account.deleted"] * 2
    assert {*types_of(events, ann)} == {
        "account.deleted",
        "post.deleted",
        "account.updated",
        "account.moderated",
    }


def test_events_have_the_ids_of_the_product(service):
    provision, ids = Service("service:accounts"), {}
    for external_id, name in (("u-ann", "ann"), ("u-ben", "ben")):
        made = provision.put(f"/api/v1/services/accounts/{external_id}", {"username": name})
        ids[name] = int(made.json()["account_id"])
    other = make_account()
    deliver_all()
    start = position_now(service)
    for target in (ids["ben"], other):
        act(ids["ann"], f"accounts/{target}/follow")
    act(other, f"accounts/{ids['ann']}/follow")
    publish(ids["ann"])
    deliver_all()
    events, _ = read_all(service, start)
    names = ("external_id", "target_external_id")
    assert {(e["type"], *map(e["data"].get, names)) for e in events} == {
        ("relation.changed", "u-ann", "u-ben"),
        ("relation.changed", "u-ann", None),
        ("relation.changed", None, "u-ann"),
        ("post.created", "u-ann", None),
    }


def find_page(position):
    """The next two events. None: there are none yet."""
    page = read_events(position, 2)
    return page if page.events else None


def test_events_of_all_databases_are_in_the_order_of_their_delivery(world):
    """So what an account does after a move comes behind what it did before, however far behind the
    reader of its old shard is."""
    people = [make_on(f"shard{number}") for number in range(4)]
    deliver_all()
    start, expected = site_position_now(), []
    for number in (0, 0, 0, 1, 2, 1, 3, 0):
        expected.append(publish(people[number]))
        deliver_all()
    told, position = [], start
    # It waits for the transactions of all tests that use the server.
    while len(told) < len(expected):
        page = until(partial(find_page, position))
        told += [event.data["post_id"] for event in page.events]
        assert len(page.events) <= 2
        position = page.position
    assert told == expected
