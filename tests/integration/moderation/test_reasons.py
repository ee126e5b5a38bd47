"""Reasons that operators write once, and that the forms of moderators suggest."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.test import Client

from accounts.site_texts.models import LONGEST_REASON, MOST_REASONS, SiteTexts
from accounts.site_texts.queries import _TextMemory, forget_site_description
from moderation.models import Decision, Report
from tests.integration.moderation.staff_pages import member
from tests.world import make_account

TEXTS, REPORTS = "/admin/site_texts/sitetexts/0/change/", "/admin/moderation/report/"
RULES = {"rules-TOTAL_FORMS": "0", "rules-INITIAL_FORMS": "0"}
SUGGESTED = re.compile(r'<datalist id="mod-reasons">(.*?)</datalist>', re.DOTALL)
INPUT = re.compile(r'<input[^>]* name="reason"[^>]*>')


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    _TextMemory.texts, _TextMemory.fresh_until = None, 0.0
    yield
    _TextMemory.texts, _TextMemory.fresh_until = None, 0.0


@pytest.fixture
def otto(world: None) -> Client:
    browser = member("operator", "otto")
    browser.get("/admin/site_texts/sitetexts/")
    return browser


def write(browser: Client, reasons: str) -> Any:
    answer = browser.post(TEXTS, {"reasons": reasons, **RULES})
    forget_site_description()
    return answer


def suggested_at(browser: Client, path: str) -> list[str]:
    """The suggestions of a page on which each input of a reason has them."""
    page = browser.get(path).content.decode()
    inputs = INPUT.findall(page)
    assert inputs, path
    assert all('list="mod-reasons"' in tag for tag in inputs), inputs
    (options,) = SUGGESTED.findall(page)
    return [unescape(value) for value in re.findall(r'<option value="([^"]*)">', options)]


def test_moderators_are_suggested_what_operators_wrote(otto: Client, mia: Client) -> None:
    assert write(otto, "Spam\r\n\r\n Sells <b>boats</b> \r\nSpam\r\n").status_code == 302
    ben = make_account("ben")
    row = Report.objects.create(reporter_id=1, account_id=ben, category="spam")
    paths = (REPORTS, f"{REPORTS}{row.pk}/change/", f"/admin/accounts/user/{ben}/change/")
    for path in paths:
        assert suggested_at(mia, path) == ["Spam", "Sells <b>boats</b>"]
    form = {"action": "resolve", "_selected_action": [row.pk], "reason": "One of my own"}
    mia.post(REPORTS, form)
    assert Decision.objects.get().reason == "One of my own"


def test_reasons_are_for_moderators_only(otto: Client, mia: Client) -> None:
    write(otto, "Boats of the quay")
    assert mia.get(TEXTS).status_code == 403
    for path in ("/about", "/api/v2/instance", "/api/v1/instance/rules"):
        answer = Client().get(path)
        assert answer.status_code == 200
        assert "Boats of the quay" not in answer.content.decode()


def test_reasons_that_no_form_would_take_are_refused(otto: Client) -> None:
    for odd in ("x" * (LONGEST_REASON + 1), "\n".join(map(str, range(MOST_REASONS + 1)))):
        assert write(otto, odd).status_code == 200
        assert SiteTexts.objects.get().reasons == ""
    most = "\n".join(f"{n:02}" * (LONGEST_REASON // 2) for n in range(MOST_REASONS))
    assert write(otto, most).status_code == 302
    assert len(SiteTexts.objects.get().reasons.split()) == MOST_REASONS
