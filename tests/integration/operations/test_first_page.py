"""The first page of the admin: the figures that operators and moderators look at first."""

import re
import socket
import time
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any, NamedTuple

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from infra.changes.lag import report_lag
from infra.changes.parking import park
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from infra.telemetry.publishing import PUBLISHER, metrics_folder
from moderation.actions.appeals import file_appeal
from moderation.models import Appeal, Decision, Report
from moderation.queries.waiting import MOST_COUNTED, MOST_LISTED, count_waiting
from moderation.types import DecisionKind
from operations.day import read_day, write_ended_point
from operations.queries.first_page import read_overview
from operations.samples import FLEET, FleetSample, _write, read_totals, sample_fleet
from tests.browser.hour import lay_hour
from tests.budgets import count_calls
from tests.callers import sign_in
from tests.integration.changes.kinds import ALIAS, note
from tests.integration.operations.staff import staff_of
from tests.people import decide
from tests.plans import nodes_of, rows_handled, settle
from tests.redis_away import redis_away
from tests.world import drain_all, make_account, publish

QUEUE = "/admin/moderation/report/"
# The session, its user, its token and second step, rights of the user and of the groups, the
# history of what the viewer did, two for the figures, and two for what waits.
MOST_ON_DEFAULT, MOST_ROUND_TRIPS = 11, 3
CARD = re.compile(
    r'<li(?: class="ops-(?P<level>\w+)")?>\s*<h2>(<a href="(?P<url>[^"]*)">)?(?P<name>[^<]*)'
    r'(</a>)?</h2>\s*<p class="ops-value">(?P<value>[^<]*?)\s*(<span.*?)?</p>\s*'
    r'(<div class="ops-line">.*?</div>)?'
    r"\s*<p>(?P<note>[^<]*)</p>"
)


class Card(NamedTuple):
    value: str
    note: str
    url: str
    level: str


def cards_of(browser: Client) -> dict[str, Card]:
    answer = browser.get("/admin/")
    assert answer.status_code == 200
    return {
        card["name"]: Card(
            unescape(card["value"]), unescape(card["note"]), card["url"] or "", card["level"] or ""
        )
        for card in CARD.finditer(answer.content.decode())
    }


@pytest.fixture
def boss(world: None) -> Client:
    browser = Client()
    user = User.objects.create(
        username="boss",
        is_staff=True,
        is_superuser=True,
        date_joined=timezone.now() - timedelta(days=9),
    )
    sign_in(browser, user)
    browser.get("/admin/")
    return browser


def report(**values: Any) -> Report:
    row = {"reporter_id": 1, "account_id": 2, "category": "spam"} | values
    return Report.objects.create(**row)


def sample_a_minute_ago() -> None:
    at_s = time.time() - 60
    requests = read_totals(PUBLISHER.collect(metrics_folder()), at_s)
    _write(FLEET, FleetSample(0, 0, {}, requests), at_s)


def test_requests_of_this_machine_are_counted_and_timed(boss: Client) -> None:
    sample_a_minute_ago()
    for _ in range(60):
        boss.get("/api/v2/instance")
    sample_fleet("default")
    cards = cards_of(boss)
    rate = cards["Requests a second"]
    assert 0.9 <= float(rate.value) <= 1.5
    assert socket.gethostname() in rate.note
    assert rate.url == "/admin/operations/"
    assert re.fullmatch(r"[\d.,]+ / [\d.,]+ ms", cards["Wall time, p50 / p99"].value)
    assert cards["Answers that failed"][0] == "0.00%"


def test_what_no_compensator_sampled_is_not_known_and_no_zero(operator: Client) -> None:
    cards = cards_of(operator)
    for name in ("Requests a second", "Wall time, p50 / p99", "Answers that failed"):
        assert cards[name].value == "not known"
        assert "No compensator took two samples" in cards[name].note
    for name in ("Delay of delivery", "Parked changes"):
        assert cards[name].value == "not known"
        assert "No compensator reported" in cards[name].note


def test_changes_that_wait_and_that_are_parked(operator: Client) -> None:
    note(1)
    execute(ALIAS, "UPDATE changes_change SET created_at = created_at - interval '90 s'")
    park(ALIAS, note(2), "odd")
    for alias in all_aliases()[:-1]:
        report_lag(alias)
    cards = cards_of(operator)
    delay, parked = cards["Delay of delivery"], cards["Parked changes"]
    assert float(delay.value.removesuffix(" s")) >= 90
    assert (parked.value, parked.url) == ("2", f"/admin/parked/?shard={ALIAS}")
    assert (delay.level, parked.level) == ("act", "act")
    assert f"not known of {all_aliases()[-1]}" in parked.note


def test_sign_ups_and_people_who_post(world: None) -> None:
    ann, ben, cyd = (make_account(name) for name in ("ann", "ben", "cyd"))
    for author in (ann, ann, ben):
        publish(author)
    publish(cyd, clock_s=lambda: time.time() - 90_000)
    drain_all()
    User.objects.update(date_joined=timezone.now() - timedelta(days=2))
    User.objects.filter(pk=cyd).update(date_joined=timezone.now() - timedelta(hours=23))
    cards = cards_of(staff_of("operator"))
    assert cards["Sign-ups"].value == "2", "cyd and the operator"
    assert cards["Sign-ups"].url == "/admin/accounts/user/"
    people = cards["People who post"]
    assert (people.value, people.url) == ("2", "/public")
    assert "newest 3 public posts" in people.note


def test_reports_and_appeals_that_wait_lead_to_their_queues(
    boss: Client, operator: Client, moderator: Client
) -> None:
    report()
    report(state="resolved")
    Report.objects.update(created_at=timezone.now() - timedelta(days=3))
    strike = decide(make_account("ben"), DecisionKind.WARN)
    Appeal.objects.create(decision=strike, text="no")
    for browser in (boss, moderator):
        cards = cards_of(browser)
        assert [name for name in cards if name.startswith("Open")] == [
            "Open reports",
            "Open appeals",
        ]
        assert cards["Open reports"] == Card("1", "the oldest for 3\xa0days", QUEUE, "act")
        appeals = cards["Open appeals"]
        assert (appeals.value, appeals.url) == (
            "1",
            "/admin/moderation/appeal/?state__exact=pending",
        )
        for card in cards.values():
            if card.url.startswith("/admin/"):
                assert browser.get(card.url).status_code == 200
    assert len(cards_of(moderator)) == 2, "no figures of the servers"
    cards = cards_of(operator)
    assert (cards["Open reports"].value, cards["Open reports"].url) == ("1", "")


def test_other_staff_sees_no_figures(world: None) -> None:
    browser = Client()
    sign_in(browser, User.objects.create(username="outsider", is_staff=True))
    assert cards_of(browser) == {}


def test_redis_away_is_said_and_the_rest_is_shown(operator: Client) -> None:
    report()
    with redis_away():
        cards = cards_of(operator)
    assert cards["Requests a second"].value == "not known"
    assert cards["Requests a second"].note.startswith("Redis does not answer")
    assert cards["Parked changes"].note.startswith("Redis does not answer")
    assert cards["Open reports"].value == "1"


def test_the_page_costs_the_same_with_more_rows(boss: Client) -> None:
    cards_of(boss)
    with count_calls() as few:
        cards_of(boss)
    Report.objects.bulk_create(
        Report(reporter_id=1, account_id=2, category="spam") for _ in range(50)
    )
    with count_calls() as many:
        cards = cards_of(boss)
    assert cards["Open reports"].value == "50"
    assert many.sql == few.sql
    assert set(many.sql) == {"default"}
    assert many.sql["default"] <= MOST_ON_DEFAULT
    assert many.round_trips <= MOST_ROUND_TRIPS


def test_what_waits_is_listed_for_those_who_decide(boss: Client) -> None:
    ben = make_account("ben")
    for number in range(MOST_LISTED + 2):
        report(account_id=ben, comment=f"spam, <b>{number}</b> times")
    strike = decide(ben, DecisionKind.WARN)
    assert strike is not None
    file_appeal(ben, strike.pk, "But they float")
    page = boss.get("/admin/").content.decode()
    assert page.count(f"{QUEUE}") >= MOST_LISTED
    assert page.count("@ben") == MOST_LISTED + 1
    assert "spam, &lt;b&gt;0&lt;/b&gt; times" in page and "6&lt;/b&gt; times" not in page
    assert "But they float" in page
    operator = staff_of("operator")
    assert "they float" not in operator.get("/admin/").content.decode(), "who may not see reports"


def test_a_long_queue_is_not_counted_to_its_end(world: None) -> None:
    Report.objects.bulk_create(
        Report(reporter_id=1, account_id=2, category="spam") for _ in range(3 * MOST_COUNTED)
    )
    settle("default", "moderation_report")
    with count_calls() as calls:
        waiting = count_waiting()
    assert waiting.reports == MOST_COUNTED
    assert waiting.oldest_report_at is not None
    (statement,) = calls.statements
    assert max(map(rows_handled, nodes_of(statement))) <= MOST_COUNTED
    overview = read_overview("moderation.view_report".__eq__, datetime.now(UTC))
    assert overview.sentence == "1,000 or more reports wait."
    assert overview.figures[0].value == "1,000 or more"
    assert not Decision.objects.exists()


def test_a_few_old_open_reports_are_counted_without_the_decided_ones(world: None) -> None:
    states = ["open"] * 5 + ["resolved"] * 20_000
    Report.objects.bulk_create(
        Report(reporter_id=1, account_id=2, category="spam", state=state) for state in states
    )
    settle("default", "moderation_report")
    with count_calls() as calls:
        assert count_waiting().reports == 5
    (statement,) = calls.statements
    assert max(map(rows_handled, nodes_of(statement))) <= 5


SENTENCE = re.compile(r'<p class="ops-sentence">([^<]*)</p>')
MANUAL = re.compile(r'href="(/admin/chapters/\w+/)"')


def sentence_at(browser: Client) -> str:
    (sentence,) = SENTENCE.findall(browser.get("/admin/").content.decode())
    return str(sentence)


def test_the_first_line_says_how_all_is(operator: Client, moderator: Client) -> None:
    assert sentence_at(operator).startswith("It is not known whether everything is delivered.")
    for alias in all_aliases():
        report_lag(alias)
    report()
    assert "Everything is delivered." in sentence_at(operator)
    assert sentence_at(operator).endswith("1 report waits.")
    assert sentence_at(moderator) == "1 report waits."
    note(1)
    execute(ALIAS, "UPDATE changes_change SET created_at = created_at - interval '90 s'")
    park(ALIAS, note(2), "odd")
    report_lag(ALIAS)
    assert re.match(r"Delivery is 9\d\.\d s late\. 2 changes are parked\.", sentence_at(operator))


def test_what_is_not_fine_comes_first_with_a_word_and_its_chapter(operator: Client) -> None:
    park(ALIAS, note(2), "odd")
    for alias in all_aliases():
        report_lag(alias)
    page = operator.get("/admin/").content.decode()
    troubles, fine = page[page.index('aria-label="Not fine"') :].split('aria-label="Fine"')
    assert troubles.index("act now") < troubles.index("watch it"), "the worst first"
    assert "Parked changes" in troubles and "Delay of delivery" in fine
    assert "What to do" not in fine
    for where in MANUAL.findall(troubles):
        shown = operator.get(where).content.decode()
        assert '<article class="module ops-chapter"' in shown
        assert "](" not in shown, "no Markdown is left"
    shown = operator.get("/admin/chapters/monitor/").content.decode()
    assert "<h2>Alerts</h2>" in shown and "Logs</h2>" not in shown
    assert operator.get("/admin/chapters/none/").status_code == 404


def test_the_last_hour_is_a_curve_that_says_in_words_what_it_shows(operator: Client) -> None:
    assert "<svg class" not in operator.get("/admin/").content.decode()
    lay_hour()
    for alias in all_aliases():
        report_lag(alias)
    page = operator.get("/admin/").content.decode()
    curves = re.findall(r'<svg class="ops-curve".*?aria-label="([^"]*)".*?<path d="(M[^"]*)"', page)
    assert len(curves) == 5, "requests, failures, delay, parked changes, memory"
    words = [text for text, _ in curves]
    assert all(re.fullmatch(r"In \d+ minutes [\d.,e+]+ to [\d.,e+]+.*\.", text) for text in words)
    assert [text for text in words if text.endswith(" minutes 0 to 2.")], "parked changes"
    assert cards_of(operator)["Memory of Redis"].level == ""


def test_a_day_of_points_is_a_curve_a_press_away(operator: Client) -> None:
    now_s = time.time()
    lay_hour(now_s)
    for minutes in (20, 10, 10, 0):
        write_ended_point(now_s - 60 * minutes)
    for alias in all_aliases():
        report_lag(alias)
    page = operator.get("/admin/?curves=day").content.decode()
    assert '<a href="?curves=day" aria-current="true">last 24 hours</a>' in page
    curves = re.findall(r'<svg class="ops-curve".*?aria-label="([^"]*)".*?<path d="([^"]*)"', page)
    assert len(curves) == 5
    assert all(path.count("h.01") == 3 for _, path in curves), "five minutes between two gaps"
    assert '?curves=hour" aria-current' in operator.get("/admin/?curves=x").content.decode()
    points = [point for point in read_day(now_s) if point]
    assert len(points) == 3, "each is written once"
    assert all(point.parked == 2 and point.rate == 42 for point in points[1:])


def test_a_day_costs_one_round_trip_more_however_many_databases(operator: Client) -> None:
    operator.get("/admin/?curves=day")
    with count_calls() as hour:
        operator.get("/admin/")
    with count_calls() as day:
        operator.get("/admin/?curves=day")
    assert day.round_trips == hour.round_trips + 1
