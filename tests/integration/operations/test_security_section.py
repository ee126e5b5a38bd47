"""The section of security in the index of the admin, and the tables of the sign-in guard."""

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from accounts.models import User
from tests.callers import sign_in
from tests.integration.operations.staff import staff_of

LIST = "/admin/axes/accessattempt/"
NAMES = ["Failed sign-ins", "Access tokens"]
pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture
def boss() -> Client:
    browser = Client()
    sign_in(browser, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def failed(name: str, address: str, failures: int = 5, minutes_ago: int = 1) -> AccessAttempt:
    row = AccessAttempt.objects.create(
        username=name,
        ip_address=address,
        user_agent="A browser",
        path_info="/auth/sign_in",
        failures_since_start=failures,
        get_data="secret=7",
        post_data="password=********",
    )
    at = timezone.now() - timedelta(minutes=minutes_ago)
    AccessAttempt.objects.filter(pk=row.pk).update(attempt_time=at)
    return row


def sections(browser: Client, path: str = "/admin/") -> dict[str, list[str]]:
    """The names of the lists by section."""
    page = browser.get(path).context
    return {one["name"]: [model["name"] for model in one["models"]] for one in page["app_list"]}


def test_the_tables_of_security_are_in_one_section(boss, operator):
    assert sections(operator)["Security"] == NAMES
    assert sections(boss)["Security"] == [*NAMES, "Groups"]
    assert sections(boss, "/admin/axes/") == {"Security": [*NAMES, "Groups"]}
    index = sections(boss)
    assert not {"Axes", "Authentication and Authorization"} & {*index}
    assert [*index] == ["Operations", "Moderation", "This site", "Security"]
    assert index["Moderation"][:3] == ["Reports", "Appeals", "Users"]
    assert index["Operations"][-2:] == ["Job runs", "Tenants"]
    assert sections(boss, "/admin/accounts/")["Accounts"] == [
        *("Access tokens", "Applications", "Users"),
    ]
    assert sections(boss, "/admin/auth/")["Authentication and Authorization"] == ["Groups"]


def test_moderators_see_no_section_and_no_table(moderator):
    assert "Security" not in sections(moderator)
    assert moderator.get(LIST).status_code == 403


def test_rows_are_read_only_also_for_superusers(boss):
    assert boss.get(LIST).status_code == 200
    assert boss.get(f"{LIST}add/").status_code == 403
    where = f"{LIST}{failed('ann', '192.0.2.1').pk}"
    assert boss.get(f"{where}/delete/").status_code == 403
    assert boss.post(f"{where}/change/", {"username": "ben"}).status_code == 403


def test_a_failure_is_shown_in_plain_words_without_what_was_typed(operator):
    row = failed("ann", "192.0.2.1")
    failed("ben", "192.0.2.2", failures=2)
    failed("cora", "192.0.2.3", minutes_ago=16)
    page = operator.get(LIST).content.decode()
    states = re.findall(r'data-label="State"[^>]*>([^<]*)<', page)
    assert states[:2] == ["over", "3 more tries"]
    assert re.fullmatch(r"refused until \d\d:\d\d:\d\d UTC", states[2])
    assert "<h1>Failed sign-ins</h1>" in page
    one = operator.get(f"{LIST}{row.pk}/change/").content.decode()
    assert "A browser" in one
    assert "secret=7" not in one
    assert "password=" not in one


def test_tables_that_are_never_filled_have_no_page(boss):
    for name in ("accessfailurelog", "accesslog"):
        assert boss.get(f"/admin/axes/{name}/").status_code == 404


def test_failures_are_found_by_name_and_by_address(operator):
    """An IPv6 address is counted with its network."""
    failed("ann", "192.0.2.1")
    failed("ben", "2001:db8:1:2::")
    wanted = {
        "ann": ["ann"],
        "@ANN": ["ann"],
        "an": [],
        "' OR 1=1 --": [],
        "192.0.2.1": ["ann"],
        "2001:db8:1:2:3::4": ["ben"],
        "999.1.1.1": [],
    }
    pages = {term: operator.get(LIST, {"q": term}).context["cl"] for term in wanted}
    found = {term: [row.username for row in page.result_list] for term, page in pages.items()}
    assert found == wanted


def test_operators_let_a_person_try_again_and_say_why(operator):
    row, other = failed("ann", "192.0.2.1"), failed("ben", "192.0.2.2")
    form = {"action": "forget", "_selected_action": [row.pk]}
    operator.post(LIST, form)
    assert AccessAttempt.objects.count() == 2
    answer = operator.post(LIST, form | {"reason": "called us"}, follow=True)
    assert "1 forgotten: called us" in answer.content.decode()
    assert [one.pk for one in AccessAttempt.objects.all()] == [other.pk]
    assert LogEntry.objects.count() == 1
    assert staff_of("moderator").post(LIST, form | {"reason": "x"}).status_code == 403
