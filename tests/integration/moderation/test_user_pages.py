"""The list of users and the page of one, as moderators and operators see them.

Filters of admin lists with values that no row can have.
"""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission
from django.db import connections
from django.test import Client

from accounts.actions.rename import rename_account
from accounts.models import User
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from moderation.models import Report
from moderation.types import DecisionKind
from posts.actions.create_post import create_post
from posts.types import Draft, Visibility
from tests.budgets import count_calls
from tests.integration.moderation.staff_pages import member, name_account, words_at
from tests.people import decide
from tests.plans import nodes_of
from tests.world import drain_all, make_account, make_accounts, publish

LIST = "/admin/accounts/user/"
# Session, user, its token, rights of the user and of the groups, the page. One user: reports and
# decisions, ends of restrictions and former names too.
DEFAULT_OF_LIST, DEFAULT_OF_ONE = 7, 11
pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture
def ben() -> int:
    """Posted, limited, and reported."""
    ben = make_account("ben")
    name_account(ben, "Ben & boats", "I sell <b>boats</b>")
    User.objects.filter(pk=ben).update(email="ben@example.com")
    publish(ben, "Buy <a> boat")
    create_post(ben, Draft("For one person only", visibility=Visibility.DIRECT))
    decide(ben, DecisionKind.LIMIT)
    Report.objects.create(reporter_id=ben, account_id=ben, category="spam", comment="Boats, again")
    drain_all()
    return ben


@pytest.fixture
def mia(ben: int) -> Client:
    return member("moderator", "mia")


def test_the_list_has_names_counts_restrictions_and_history(ben: int, mia: Client) -> None:
    report = Report.objects.get()
    shown = words_at(mia, f"{LIST}?q=ben")
    for words in ("ben", "Ben & boats", "limited", f"Report {report.pk}", "limit"):
        assert words in shown, words
    assert "ben@example.com" not in shown
    page = mia.get(f"{LIST}?q=ben").content.decode()
    assert '<td data-label="Posts" class="field-posts">1</td>' in page


def test_one_user_has_the_account_its_history_and_its_latest_posts(ben: int, mia: Client) -> None:
    shown = words_at(mia, f"{LIST}{ben}/change/")
    for words in (
        *("@ben", "Ben & boats", "I sell <b>boats</b>", "limited", "Joined", "followers"),
        *("Boats, again", "spam", "a command", "Buy <a> boat"),
    ):
        assert words in shown, words
    assert "For one person only" not in shown, "no moderator reads direct posts without a report"
    page = mia.get(f"{LIST}{ben}/change/").content.decode()
    assert f"/admin/moderation/report/?q={ben}" in page
    assert 'action="/admin/moderation/decision/add/"' in page


def test_former_names_are_shown_and_found(ben: int, mia: Client) -> None:
    rename_account(ben, "benjamin", datetime.now(UTC))
    assert re.search(r"@ben until 20\d\d-", words_at(mia, f"{LIST}{ben}/change/"))
    for term in ("ben", "@ben", "benj"):
        assert "@benjamin" in words_at(mia, f"{LIST}?q={term}")


def test_only_operators_see_addresses_and_rights(ben: int, mia: Client) -> None:
    otto, path = member("operator", "otto"), f"{LIST}{ben}/change/"
    for browser, sees in ((mia, False), (otto, True)):
        assert ("ben@example.com" in words_at(browser, path)) is sees
        assert ("Superuser status" in words_at(browser, path)) is sees
        assert "ben@example.com" not in words_at(browser, f"{LIST}?q=ben"), "a name is enough"
        assert ("Ben & boats" in words_at(browser, f"{LIST}?q=ben@example.com")) is sees
        assert browser.post(path, {"is_staff": "on"}).status_code == 403
    assert "Boats, again" not in words_at(otto, path), "reports are for moderators"


def test_the_rights_of_a_person_are_folded_below_how_they_sign_in(ben: int) -> None:
    page = member("operator", "otto").get(f"{LIST}{ben}/change/").content.decode()
    signing_in, _, access = page.partition("Access to the admin")
    assert "Signing in" in signing_in and "ben@example.com" in signing_in
    assert "Groups" in access and "User permissions" not in access
    assert re.search(r'<fieldset class="[^"]*collapse', page)


def test_rights_without_a_group_are_not_hidden(ben: int) -> None:
    User.objects.get(pk=ben).user_permissions.set(Permission.objects.filter(codename="view_report"))
    shown = words_at(member("operator", "otto"), f"{LIST}{ben}/change/")
    assert "User permissions" in shown and "Can view report" in shown


def test_the_list_says_what_to_choose(ben: int, mia: Client) -> None:
    page = mia.get(LIST).content.decode()
    assert ">Choose an action</option>" in page and "---------" not in page
    assert 'placeholder="The beginning of a name' in page


def test_lists_and_pages_cost_the_same_for_many(ben: int, mia: Client) -> None:
    others = make_accounts(30)
    for account_id in others:
        Report.objects.create(reporter_id=ben, account_id=account_id, category="spam")
    with count_calls() as calls:
        shown = words_at(mia, LIST)
    assert shown.count("Report ") == 31
    shards = [alias for alias in all_aliases() if alias != "default"]
    assert calls.sql == {"default": DEFAULT_OF_LIST} | dict.fromkeys(shards, 2)
    for n in range(12):
        publish(ben, f"boat {n}")
    words_at(mia, f"{LIST}{ben}/change/")  # the first one of a process asks for content types
    with count_calls() as calls:
        assert words_at(mia, f"{LIST}{ben}/change/").count("boat ") >= 10
    assert calls.sql == {"default": DEFAULT_OF_ONE, shard_of(ben): 4}
    assert not [one.sql for one in calls.statements if "COUNT(" in one.sql or "OFFSET" in one.sql]


def test_a_shard_that_is_down_leaves_the_list_readable(
    ben: int, mia: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alias = shard_of(ben)
    monkeypatch.setitem(connections.settings[alias], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings[alias], "PORT", "1")
    assert "not known" in words_at(mia, f"{LIST}?q=ben")
    shown = words_at(mia, f"{LIST}{ben}/change/")
    assert f"{alias} does not answer" in shown
    assert "Boats, again" in shown


def test_lists_are_read_by_index_and_never_sorted(mia: Client) -> None:
    """So a page costs the same in a table of ten million rows.

    In a small table other plans are cheaper. Without them, a sort or scan means a missing index.
    """
    for name in OTHER_PLANS:
        execute("default", f"SET {name} = off")
    try:
        found = {path: _plan_of(mia, path) for path in READ_BY_INDEX}
    finally:
        for name in OTHER_PLANS:
            execute("default", f"RESET {name}")
    wrong = {"Seq Scan", "Sort", "Incremental Sort"}
    assert {path: kinds & wrong for path, kinds in found.items() if kinds & wrong} == {}


OTHER_PLANS = ("enable_seqscan", "enable_bitmapscan", "enable_sort")
READ_BY_INDEX = (
    LIST,
    *("/admin/moderation/report/", "/admin/moderation/report/?q=ben"),
    *("/admin/moderation/report/?queue=all", "/admin/moderation/report/?queue=assigned"),
    *(f"/admin/moderation/decision/?q={term}" for term in ("ben", "79615011002563393202")),
)


def _plan_of(browser: Client, path: str) -> set[str]:
    """The kinds of nodes in the plan of the statement that reads the page."""
    with count_calls() as calls:
        words_at(browser, path)
    (page,) = [one for one in calls.statements if "LIMIT 51" in one.sql]
    return {node["Node Type"] for node in nodes_of(page)}


LISTS = {
    "operator": ("promotions/campaign/?kind", "jobs/jobrun/?state"),
    "moderator": ("moderation/appeal/?state", "moderation/report/?state"),
}


@pytest.mark.parametrize("group", LISTS)
def test_a_filter_with_a_nul_is_refused(world: None, group: str) -> None:
    browser = member(group, "mia")
    for path in LISTS[group]:
        for name in (path, f"{path}__exact"):
            answer = browser.get(f"/admin/{name}=%00")
            assert answer.status_code == 302, name
            assert answer["Location"].endswith("?e=1"), name
