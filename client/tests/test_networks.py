"""The client against a real server that fails in each way: what goes on, and what is sent once."""

import threading
from itertools import islice

import pytest

from failing_server import FAULTS, serving
from site_double import ACCOUNT, BOUND, STATUS, SiteDouble, ok, refused
from test_events import site
from tideline_client import Tideline, TidelineError, UnexpectedAnswer, Unreachable, breaker
from tideline_client.breaker import FAILURES, Breaker

EVENTS = "/api/v1/services/events"
ANSWERS = {
    "/api/v1/accounts/42": ACCOUNT,
    "/api/v1/services/accounts/1": BOUND | {"created": False},
    "/api/v1/statuses": STATUS,
    "/api/v1/polls/1/votes": {},
    "/api/v1/lists": {},
    EVENTS: {"events": [], "position": "9", "has_more": True, "missing": []},
    "/api/v2/instance": site(""),
}


@pytest.fixture
def server():
    with serving(ANSWERS) as served:
        yield served


pytestmark = pytest.mark.usefixtures("pauses")


def client_of(server, **options):
    return Tideline(server.url, "token", **options)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.accounts.get("42"),
        lambda client: client.provisioning.put("1", note="x"),
    ],
)
def test_reads_and_provisioning_are_repeated(server, fault, call):
    server.faults = [fault, fault]
    with client_of(server) as client:
        call(client)
    assert len(server.asked) == 3
    assert len(set(server.asked)) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_a_post_is_repeated_with_its_key_and_another_write_is_not(server, fault):
    server.faults = [fault]
    with client_of(server) as client:
        client.statuses.create("Hello")
        assert len(server.keys) == 2
        assert server.keys[0] == server.keys[1] is not None
        for write in (
            lambda: client.polls.vote("1", choices=[0]),
            lambda: client.lists.create("Friends"),
        ):
            server.faults, server.asked = [fault], []
            with pytest.raises(TidelineError):
                write()
            assert len(server.asked) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_following_goes_on_after_each_fault(server, fault):
    with client_of(server, retries=0) as client:
        pages = client.events.follow("0")
        assert next(pages).position == "9"
        server.faults = [fault] * (FAILURES - 1)
        assert next(pages).position == "9"
    assert server.asked == [f"GET {EVENTS}"] * (FAILURES + 1)


def test_following_begins_while_tideline_is_away(server):
    server.faults = ["bad_gateway", "reset"]
    with client_of(server, retries=0) as client:
        assert [each.position for each in islice(client.events.follow("0"), 2)] == ["9", "9"]


def test_following_a_wrong_address_says_so_at_once():
    wrong = SiteDouble(ok([]))
    with pytest.raises(UnexpectedAnswer):
        next(wrong.client().events.follow("0"))
    page = ok({"events": [], "position": "1", "has_more": True, "missing": []})
    broken = SiteDouble(page, ok([]), refused(500), page)
    assert len(list(islice(broken.client().events.follow("0"), 2))) == 2


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


def failing(switch, error):
    with pytest.raises(type(error)), switch.watching("1"):
        raise error


def test_a_breaker_opens_and_lets_one_through_in_a_while():
    clock = Clock()
    switch = Breaker(clock)
    for _ in range(FAILURES):
        failing(switch, Unreachable("no"))
    for pause_s in (breaker.FIRST_PAUSE_S, 2 * breaker.FIRST_PAUSE_S):
        with pytest.raises(Unreachable, match="a moment ago"), switch.watching("1"):
            pytest.fail("it asks")
        clock.now_s += pause_s
        failing(switch, Unreachable("no"))
    clock.now_s += breaker.LONGEST_PAUSE_S
    with (
        switch.watching("1"),
        pytest.raises(Unreachable, match="a moment ago"),
        switch.watching("2"),
    ):
        pytest.fail("it asks twice")
    with switch.watching("3"):
        pass


def test_a_server_that_hangs_costs_a_page_nothing_after_a_while():
    with serving({"/api/v1/accounts/42": lambda _: threading.Event().wait(0.3)}) as slow:
        client = Tideline(slow.url, "token", deadline_ms=50, retries=0)
        for _ in range(FAILURES):
            with pytest.raises(TidelineError):
                client.accounts.get("42")
        with pytest.raises(Unreachable, match="a moment ago"):
            client.with_patience(deadline_ms=9_000).acting_for("7").accounts.get("42")
        assert len(slow.asked) <= FAILURES
        client.close()


def test_refusals_of_tideline_open_no_breaker():
    for status in (404, 429, 500, 503):
        sent = SiteDouble(refused(status))
        client = sent.client(retries=0)
        for _ in range(2 * FAILURES):
            with pytest.raises(TidelineError):
                client.accounts.get("42")
        assert len(sent.asked) == 2 * FAILURES


def test_many_accounts_go_in_batches():
    def answer(request):
        body = sent.bodies()[-1]
        ids = body.get("external_ids") or [each["external_id"] for each in body["accounts"]]
        return ok([BOUND | {"external_id": each, "status": 200} for each in ids])

    sent = SiteDouble(answer)
    client = sent.client()
    wanted = ({"external_id": f"u{number}"} for number in range(250))
    assert [each.external_id for each in client.provisioning.put_many(wanted)] == [
        f"u{number}" for number in range(250)
    ]
    assert [len(body["accounts"]) for body in sent.bodies()] == [100, 100, 50]
    sent.asked.clear()
    found = client.provisioning.find(external_ids=(f"u{number}" for number in range(1_001)))
    assert len(found) == 1_001
    assert len(sent.asked) == 2
    for wrong in ({}, {"external_ids": ["a"], "account_ids": ["1"]}):
        with pytest.raises(ValueError, match="needs"):
            client.provisioning.find(**wrong)
