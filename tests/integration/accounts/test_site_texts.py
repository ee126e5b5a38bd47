"""Texts of the site: operators write them, and pages, sign-up and clients show the same."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import OperationalError
from django.test import Client

from accounts.site_texts import queries
from accounts.site_texts.models import SiteRule, SiteTexts
from accounts.site_texts.queries import (
    _TextMemory,
    forget_site_description,
    get_site_description,
)
from accounts.types import Restriction
from tests.budgets import count_calls
from tests.integration.operations.staff import staff_of
from tests.integration.pages.test_pages_without_answers import silent
from tests.races import run_together
from tests.world import make_account, restrict

pytestmark = pytest.mark.usefixtures("world")
CHANGE = "/admin/site_texts/sitetexts/0/change/"
LIST = "/admin/site_texts/sitetexts/"
FORM: dict[str, Any] = {
    "summary": "Boats & nets",
    "run_by": "Harbour Ltd, Quay 1",
    "email": "help@harbour.example",
    "about": "# Boats\n\nWe *love* them. <script>x</script>",
    "privacy": "We keep little.",
    "rules-TOTAL_FORMS": "2",
    "rules-INITIAL_FORMS": "0",
    "rules-0-position": "2",
    "rules-0-text": "No spam",
    "rules-0-hint": "",
    "rules-1-position": "1",
    "rules-1-text": "Be <kind>",
    "rules-1-hint": "Also on Mondays",
}


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    _TextMemory.texts, _TextMemory.fresh_until = None, 0.0
    yield
    _TextMemory.texts, _TextMemory.fresh_until = None, 0.0


@pytest.fixture
def operator() -> Client:
    return staff_of("operator")


@pytest.fixture
def written(operator: Client) -> None:
    operator.get(LIST)
    answer = operator.post(CHANGE, FORM)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    forget_site_description()


def get(path: str) -> Any:
    return Client().get(path).json()


def read(path: str) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_admin_has_one_page_for_all_texts(operator: Client, written: None) -> None:
    assert operator.get(LIST)["Location"] == CHANGE
    page = operator.get(CHANGE).content.decode()
    assert "Harbour Ltd" in page and "Be &lt;kind&gt;" in page
    assert LogEntry.objects.count() == 1
    assert operator.get(f"{LIST}add/").status_code == 403
    assert operator.post(f"{LIST}0/delete/", {"post": "yes"}).status_code == 403
    assert "This site" in operator.get("/admin/").content.decode()


def test_clients_show_whom_to_write_to(operator: Client, written: None) -> None:
    ann = make_account("ann")
    assert get("/api/v1/instance")["contact_account"] is None
    operator.post(CHANGE, FORM | {"contact": "@ann"})
    forget_site_description()
    old, new = get("/api/v1/instance"), get("/api/v2/instance")
    assert old["contact_account"] == new["contact"]["account"]
    assert old["contact_account"]["id"] == str(ann) and old["contact_account"]["acct"] == "ann"
    assert old["languages"] == new["languages"] == ["en", "de"]
    restrict(ann, Restriction.SUSPENDED)
    assert get("/api/v1/instance")["contact_account"] is None


def test_a_rule_can_have_translations(operator: Client, written: None) -> None:
    row = SiteRule.objects.get(text="No spam")
    for wrong in ('["de"]', '{"de": "x"}', '{"de": {"hint": "x"}}', '{"de": {"text": 1}}', "{"):
        answer = operator.post(CHANGE, _translated(row, wrong))
        assert answer.status_code == 200, wrong
    assert (
        operator.post(CHANGE, _translated(row, '{"de": {"text": "Kein Spam"}}')).status_code == 302
    )
    forget_site_description()
    for rules in (get("/api/v1/instance/rules"), get("/api/v2/instance")["rules"]):
        shown = {rule["text"]: rule["translations"] for rule in rules}
        assert shown["No spam"] == {"de": {"text": "Kein Spam", "hint": ""}}


def _translated(rule: SiteRule, translations: str) -> dict[str, Any]:
    return FORM | {
        "rules-TOTAL_FORMS": "1", "rules-INITIAL_FORMS": "1", "rules-0-id": str(rule.pk),
        "rules-0-translations": translations,
    }  # fmt: skip


def test_a_contact_must_exist(operator: Client, written: None) -> None:
    answer = operator.post(CHANGE, FORM | {"contact": "no-one"})
    assert answer.context["adminform"].form.errors == {"contact": ["There is no account @no-one."]}


def test_a_shard_that_is_away_keeps_no_client_from_the_site(
    operator: Client, written: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_account("ann")
    operator.post(CHANGE, FORM | {"contact": "ann"})
    forget_site_description()

    def away(account_id: int) -> bytes:
        raise OperationalError

    monkeypatch.setattr("accounts.api.views.instance.get_account_json", away)
    assert get("/api/v2/instance")["contact"]["account"] is None


def test_moderators_do_not_edit_them() -> None:
    moderator = staff_of("moderator")
    for path in (LIST, CHANGE):
        assert moderator.get(path).status_code in (302, 403)
        assert moderator.post(path, FORM).status_code in (302, 403)
    assert not SiteTexts.objects.exists()


def test_clients_read_them(written: None) -> None:
    old, new = get("/api/v1/instance"), get("/api/v2/instance")
    rules = [
        {"id": str(rule.pk), "text": rule.text, "hint": rule.hint, "translations": {}}
        for rule in SiteRule.objects.order_by("position")
    ]
    assert [rule["text"] for rule in rules] == ["Be <kind>", "No spam"]
    assert old["rules"] == new["rules"] == get("/api/v1/instance/rules") == rules
    assert old["email"] == new["contact"]["email"] == "help@harbour.example"
    assert old["description"] == new["description"] == "Boats & nets"
    about = get("/api/v1/instance/extended_description")
    assert about["content"].startswith("<h2>Boats</h2>") and "<script" not in about["content"]
    day = datetime.now(UTC).date().isoformat()
    assert about["updated_at"].startswith(day)
    policy = get("/api/v1/instance/privacy_policy")
    assert policy["content"] == "<p>We keep little.</p>\n" and policy["updated_at"] >= day
    urls = new["configuration"]["urls"]
    assert urls["about"].endswith("/about") and urls["privacy_policy"].endswith("/privacy")


def test_a_text_that_stays_keeps_its_time(operator: Client, written: None) -> None:
    before = SiteTexts.objects.get()
    ids = {f"rules-{n}-id": rule.pk for n, rule in enumerate(SiteRule.objects.order_by("pk"))}
    form = {
        **FORM,
        **ids,
        "rules-INITIAL_FORMS": "2",
        "about": "Other",
        "rules-0-text": "Less spam",
    }
    form |= {f"rules-{n}-site": 0 for n in range(2)}
    assert operator.post(CHANGE, form).status_code == 302
    after = SiteTexts.objects.get()
    assert after.about_changed_at > before.about_changed_at
    assert after.privacy_changed_at == before.privacy_changed_at
    assert {rule.pk for rule in SiteRule.objects.all()} == set(ids.values())


def test_pages_show_them_to_guests(written: None) -> None:
    about = read("/about")
    for text in ("Boats &amp; nets", "Harbour Ltd, Quay 1", "mailto:help@harbour.example"):
        assert text in about
    assert about.index("Be &lt;kind&gt;") < about.index("No spam")
    assert "<h2>Boats</h2>" in about and "<script>x" not in about
    assert "We keep little." in read("/privacy")
    for path in ("/", "/about", "/auth/sign_in", "/auth/sign_up", "/public"):
        page = read(path)
        assert 'href="/about"' in page and 'href="/privacy"' in page, path


def test_who_signs_up_accepts_the_rules(written: None) -> None:
    page = read("/auth/sign_up")
    assert "Be &lt;kind&gt;" in page and "I accept the rules, and agree that others" in page
    form = {"username": "ann", "email": "ann@example.org", "password": "correct horse battery"}
    refused = Client().post("/auth/sign_up", form)
    assert refused.status_code == 422 and b"No spam" in refused.content


def test_without_texts_the_pages_say_so() -> None:
    assert "have not written this yet" in read("/about")
    assert "has no list of rules" in read("/about")
    assert "have not written a privacy policy" in read("/privacy")
    assert "I agree that others can read" in read("/auth/sign_up")
    assert get("/api/v1/instance/rules") == []
    assert Client().get("/api/v1/instance/privacy_policy").status_code == 404


@pytest.mark.parametrize(
    "fault",
    [
        {"email": "no address"},
        {"summary": "x" * 301},
        {"rules-0-text": "x" * 301},
        {"about": "x" * 100_001},
        {"rules-0-position": "x"},
        {"about": "a\x00b"},
    ],
)
def test_what_cannot_be_stored_is_refused(operator: Client, fault: dict[str, str]) -> None:
    operator.get(LIST)
    assert operator.post(CHANGE, FORM | fault).status_code == 200
    assert SiteTexts.objects.get().about == "" and not SiteRule.objects.exists()


def test_most_readers_ask_no_database(written: None) -> None:
    get("/api/v2/instance")
    with count_calls() as calls:
        get("/api/v2/instance")
        get("/api/v1/instance/rules")
    assert not calls.sql


def test_one_of_many_readers_asks(written: None) -> None:
    read_before = queries.read_site_description
    asked = []

    def counted() -> Any:
        asked.append(1)
        return read_before()

    queries.read_site_description = counted
    try:
        texts = run_together([partial(get_site_description)] * 8)
    finally:
        queries.read_site_description = read_before
    assert len(asked) == 1 and {one.email for one in texts} == {"help@harbour.example"}


def test_a_change_is_seen_when_the_memory_ends(operator: Client, written: None) -> None:
    assert get("/api/v2/instance")["contact"]["email"] == "help@harbour.example"
    SiteTexts.objects.update(email="new@harbour.example")
    assert get("/api/v2/instance")["contact"]["email"] == "help@harbour.example"
    _TextMemory.fresh_until = 0.0
    assert get("/api/v2/instance")["contact"]["email"] == "new@harbour.example"


def test_without_the_database_the_last_texts_stay(written: None) -> None:
    assert len(get("/api/v1/instance/rules")) == 2
    _TextMemory.fresh_until = 0.0
    with silent("default"):
        assert len(get("/api/v1/instance/rules")) == 2
        assert "No spam" in read("/about")


def test_a_process_that_has_read_none_says_503(written: None) -> None:
    _TextMemory.texts = None
    with silent("default"):
        assert Client(raise_request_exception=False).get("/about").status_code == 503
        assert Client(raise_request_exception=False).get("/api/v2/instance").status_code == 503
        with pytest.raises(OperationalError):
            get_site_description()
