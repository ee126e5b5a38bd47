"""The notifications page, and the number of unread ones in the navigation.

What people read about the reports that they filed.

Decisions of the moderators as their account reads them, and its appeal.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from accounts.actions.update_profile import update_profile
from accounts.site_texts.queries import forget_site_description
from accounts.types import ProfileEdit
from moderation.actions.reports import reopen_report, resolve_report
from moderation.models import Report
from moderation.queries.decisions import OWN_REPORTS, list_own_reports
from moderation.types import DecisionKind, DecisionOrigin
from posts.actions.declare_reaction import declare_reaction
from posts.ids import PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.people import BECAUSE, decide, decide_on
from tests.plans import nodes_of, rows_handled, settle
from tests.site_rules import make_rule
from tests.world import drain_all, make_account, make_accounts, publish

UNREAD = re.compile(r'id="unread"[^>]*>(\d*)')


@pytest.fixture
def busy(ann: int, drain: Callable[[], int]) -> PostId:
    """A post of ann that three people favourited and one answered; one of them follows ann."""
    post, people = publish(ann, "a & b"), make_accounts(3)
    for one in people:
        Caller(one).post(f"/api/v1/statuses/{post.public}/favourite")
        drain()  # they are listed in the order of their arrival
    update_profile(people[2], ProfileEdit(display_name="Bo <b>"))
    Caller(people[0]).post(
        "/api/v1/statuses", {"status": "@ann I agree", "in_reply_to_id": post.public}
    )
    follow(people[1], ann)
    drain()
    return post


def test_what_happened_is_shown_in_groups(ann: int, busy: PostId) -> None:
    page = Browser(ann).read("/notifications")
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page))
    assert "Bo &lt;b&gt; and 2 others favourited your post" in text
    assert "replied to you" in text and "followed you" in text
    assert "a &amp; b" in page and "I agree" in page
    assert page.count('class="note-group') == 3
    mentions = Browser(ann).read("/notifications/mentions")
    assert mentions.count('class="note-group') == 1


def test_they_are_unread_until_they_are_marked(ann: int, busy: PostId) -> None:
    browser = Browser(ann)
    assert UNREAD.findall(browser.read("/")) == ["3"]
    page = browser.read("/notifications")
    [up_to] = re.findall(r'name="up_to" value="(\d+)"', page)
    assert page.count(" unread") >= 3
    for _ in range(2):
        assert UNREAD.findall(browser.act("/notifications/read", {"up_to": up_to})) == [""]
    assert " unread" not in browser.read("/notifications")
    assert browser.send("/notifications/read", {"up_to": up_to})["Location"] == "/notifications"
    assert browser.send("/notifications/read", {"up_to": "x"}).status_code == 422
    browser.act("/notifications/read", {"up_to": "1"})
    assert UNREAD.findall(browser.read("/")) == [""], "an old page does not make them unread again"


def test_a_group_is_removed_and_all_are_cleared(ann: int, busy: PostId) -> None:
    browser = Browser(ann)
    [path] = re.findall(
        r'action="(/notifications/favourite-[^"]+)"', browser.read("/notifications")
    )
    assert browser.act(path) == ""
    page = browser.read("/notifications")
    assert "favourited" not in page and "followed you" in page
    assert "Clear all" in browser.read("/notifications/clear")
    assert browser.send("/notifications/clear")["Location"] == "/notifications"
    assert "Nothing has happened yet" in browser.read("/notifications")


@pytest.mark.parametrize("act", ["authorize", "reject"])
def test_a_request_to_follow_is_answered_where_it_is_shown(
    ann: int, act: str, drain: Callable[[], int]
) -> None:
    update_profile(ann, ProfileEdit(is_locked=True))
    asking = make_accounts(2)
    for one in asking:
        follow(one, ann)
    drain()
    browser, form = Browser(ann), {"part": "answer", "next": "/notifications"}
    page = browser.read("/notifications")
    answers = [f"/accounts/{one}/{name}" for one in asking for name in ("authorize", "reject")]
    assert sorted(re.findall(r'<form method="post" action="(/accounts/[^"]+)"', page)) == sorted(
        answers
    )
    buttons = [f"{name}--{one}" for one in asking for name in ("authorize", "reject")]
    assert sorted(re.findall(r'<button id="([^"]+)"', page)) == sorted(buttons)
    said = browser.act(f"/accounts/{asking[0]}/{act}", form)
    assert ("approved" if act == "authorize" else "rejected") in said
    assert f'id="answer-{asking[0]}"' in said and f'hx-target="#answer-{asking[0]}"' in page
    assert browser.send(f"/accounts/{asking[1]}/{act}", form)["Location"] == "/notifications"
    drain()
    page = browser.read("/notifications")
    assert "asks to follow you" not in page and ("followed you" in page) == (act == "authorize")


def test_older_ones_are_a_link_away(ann: int, drain: Callable[[], int]) -> None:
    bob = make_account("bob")
    for number in range(41):
        Caller(bob).post("/api/v1/statuses", {"status": f"@ann number {number}."})
    drain()
    browser = Browser(ann)
    page = browser.read("/notifications/mentions")
    [link] = re.findall(r'class="older" href="(\?[^"]+)"', page)
    rest = browser.read(f"/notifications/mentions{link.replace('&amp;', '&')}")
    shown = re.findall(r"number (\d+)\.", page), re.findall(r"number (\d+)\.", rest)
    assert sorted(int(one) for part in shown for one in part) == list(range(41))


def test_a_decision_of_the_moderators_is_shown_with_its_reason_and_notice(ann: int) -> None:
    decision = decide(ann, DecisionKind.LIMIT)
    assert decision is not None
    decide_on(publish(ann), DecisionKind.HIDE)
    drain_all()
    browser = Browser(ann)
    assert UNREAD.findall(browser.read("/")) == ["2"]
    page = browser.read("/notifications")
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page))
    for part in ("only your followers see your posts", "A post of yours is hidden.", "spam"):
        assert part in text
    assert "icons.svg#warning" in page and "Read the notice, or appeal" in text
    notices = re.findall(r'class="excerpt" href="([^"]+)"', page)
    path, _, place = notices[-1].replace("&amp;", "&").partition("#")
    assert place == f"notice-{decision.pk}"
    notice = browser.read(path)
    assert f'id="{place}"' in notice and "A post of yours is hidden." not in notice
    assert browser.send(f"/notices/{decision.pk}/appeal", {"text": "Why?"}).status_code == 303
    assert browser.read("/notifications").count("Read the notice, or appeal") == 1


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
    for n in range(OWN_REPORTS + 5):
        report(ann, ben, f"boat {n} of many")
        report(ben, ann, "against")
    browser = Browser(ann)
    first = browser.read(PATH)
    assert f"boat {OWN_REPORTS + 4} of" in first
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
        assert len(list_own_reports(ann).items) == OWN_REPORTS
    (statement,) = calls.statements
    assert max(map(rows_handled, nodes_of(statement))) <= 2 * (OWN_REPORTS + 1)


def test_a_decision_is_shown_with_the_post_and_is_appealed_once(ann: int) -> None:
    post = publish(ann, "a boat & its captain")
    decide_on(post, DecisionKind.HIDE)
    drain_all()
    browser = Browser(ann)
    page = browser.read("/notices")
    for part in ("A post of yours is hidden.", BECAUSE.reason, "a boat &amp; its captain"):
        assert part in page, part
    path = page.split('action="')[1:]
    [appeal] = [one.split('"')[0] for one in path if one.startswith("/notices/")]
    refused = browser.send(appeal, {"text": " "})
    assert refused.status_code == 422 and b'role="alert"' in refused.content
    assert browser.send(appeal, {"text": "It is my own boat"})["Location"] == "/notices"
    page = browser.read("/notices")
    assert "It is my own boat" in page and "with the moderators" in page and appeal not in page
    assert browser.send(appeal, {"text": "again"}).status_code == 422
    assert "no decisions" in Browser(make_account()).read("/notices")


def test_a_reaction_is_shown_with_its_words(ann: int, drain: Callable[[], int]) -> None:
    declare_reaction("clap", {"en": "claps <b>", "de": "klatscht"}, at_ms=0)
    post, people = publish(ann, "soup"), make_accounts(2)
    for one in people:
        Caller(one).post(f"/api/v1/statuses/{post.public}/react/clap")
        drain()
    update_profile(people[1], ProfileEdit(display_name="Bo"))
    drain()
    browser = Browser(ann)
    for path in ("/notifications", "/notifications/favourites"):
        page = browser.read(path)
        text = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page))
        assert "Bo and 1 other reacted to your post: claps &lt;b&gt;" in text
        assert f'href="/statuses/{post.public}/reactions/clap"' in page
    german = browser.client.get("/notifications", headers={"Accept-Language": "de"})
    assert "haben auf deinen Beitrag reagiert: <bdi>klatscht</bdi>" in german.content.decode()
