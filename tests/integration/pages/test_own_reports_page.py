"""What people read about the reports that they filed."""

from datetime import UTC, datetime

import pytest

from accounts.site_texts.queries.site_description import forget_site_description
from moderation.actions.reports import reopen_report, resolve_report
from moderation.models import Report
from moderation.queries.own_reports import MOST, list_own_reports
from moderation.types import DecisionKind, DecisionOrigin
from tests.budgets import count_calls
from tests.integration.pages.browsing import Browser
from tests.people import decide
from tests.plans import nodes_of, rows_handled, settle
from tests.site_rules import make_rule
from tests.world import drain_all, make_account, publish

PATH = "/settings/reports"
SEEN = DecisionOrigin(None, "talked to ben")
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


@pytest.fixture
def ben(world: None) -> int:
    return make_account("ben")


def report(reporter_id: int, account_id: int, comment: str = "") -> Report:
    return Report.objects.create(
        reporter_id=reporter_id, account_id=account_id, category="spam", comment=comment
    )


def test_the_reporter_reads_when_a_report_is_decided(ann: int, ben: int) -> None:
    post, browser = publish(ben, "Buy a boat"), Browser(ann)
    sent = {"category": "spam", "comment": "Boats & <b>more</b>", "status_ids": [post.public]}
    assert PATH in browser.send("/@ben/report", sent).content.decode()
    page = browser.read(PATH)
    for part in ("@ben: spam", "Boats &amp; &lt;b&gt;more", "1 post<", "Not decided yet."):
        assert part in page, part
    row = Report.objects.get()
    resolve_report(row.pk, SEEN, NOW)
    page = browser.read(PATH)
    assert "4 March 2026, 05:06 UTC" in page
    assert "Not decided yet" not in page
    assert SEEN.reason not in page, "the reason is for the moderators"
    reopen_report(row.pk, SEEN)
    assert "Not decided yet." in browser.read(PATH)
    assert PATH in browser.read("/settings")


def test_a_report_names_the_rules_that_are_broken(ann: int, ben: int) -> None:
    rule = make_rule("Sell no boats & nets")
    forget_site_description()
    browser = Browser(ann)
    assert "Sell no boats &amp; nets" in browser.read("/@ben/report")
    browser.send("/@ben/report", {"category": "other", "rule_ids": [str(rule)]})
    row = Report.objects.get()
    assert (row.category, row.rule_ids) == ("violation", [rule])


def test_others_read_none_of_it(ann: int, ben: int) -> None:
    report(ann, ben, "secret boats")
    for other in (ben, make_account("cyd")):
        page = Browser(other).read(PATH)
        assert "secret boats" not in page
        assert "You have not reported anything." in page
    assert "/auth/sign_in" in Browser().client.get(PATH)["Location"]


def test_a_report_on_an_account_that_is_gone_is_still_there(ann: int, ben: int) -> None:
    report(ann, ben)
    report(ann, 10**9)
    decide(ben, DecisionKind.SUSPEND)
    drain_all()
    page = Browser(ann).read(PATH)
    assert "@ben: spam" in page
    assert "A deleted account: spam" in page


def test_pages_go_by_key_and_an_odd_cursor_is_refused(ann: int, ben: int) -> None:
    for n in range(MOST + 5):
        report(ann, ben, f"boat {n} of many")
        report(ben, ann, "against")
    browser = Browser(ann)
    first = browser.read(PATH)
    assert f"boat {MOST + 4} of" in first
    assert "boat 4 of" not in first
    older = first.split('class="older" href="?')[1].split('"')[0]
    second = browser.read(f"{PATH}?{older}")
    assert "boat 4 of" in second
    assert "boat 5 of" not in second
    assert 'class="older"' not in second
    for odd in ("x", "-1", "1e3"):
        browser.read(f"{PATH}?max_id={odd}", status=422)


def test_a_long_history_costs_one_page_of_rows(ann: int, ben: int) -> None:
    Report.objects.bulk_create(
        Report(reporter_id=ann if n % 2 else ben, account_id=7, category="spam")
        for n in range(4_000)
    )
    settle("default", "moderation_report")
    with count_calls() as calls:
        assert len(list_own_reports(ann).items) == MOST
    (statement,) = calls.statements
    assert max(map(rows_handled, nodes_of(statement))) <= 2 * (MOST + 1)
