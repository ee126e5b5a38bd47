"""The admin calls the API's actions, needs a reason and writes the admin history."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from accounts.models import AccessToken, Application, User
from accounts.queries.viewers import find_viewer
from tests.budgets import count_calls
from tests.callers import sign_in
from tests.sign_ups import Person

TOKENS = "admin:accounts_accesstoken_changelist"
APPLICATIONS = "admin:accounts_application_changelist"


@pytest.fixture
def boss(world: None) -> Client:
    browser = Client()
    sign_in(browser, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def act(browser: Client, page: str, action: str, pk: int, **form: Any) -> Any:
    return browser.post(reverse(page), {"action": action, "_selected_action": [pk], **form})


def test_no_row_has_a_page_of_the_site(boss: Client, member: Person) -> None:
    application = Application.objects.get(name="Reader")
    page = boss.get(reverse("admin:accounts_application_change", args=[application.pk]))
    assert page.status_code == 200 and b"View on site" not in page.content
    kind = ContentType.objects.get_for_model(Application)
    assert boss.get(f"/admin/r/{kind.pk}/{application.pk}/").status_code == 404


def test_ending_a_token(boss: Client, member: Person) -> None:
    token = AccessToken.objects.get(user_id=member.id)
    act(boss, TOKENS, "end", token.pk, reason=" ")
    assert find_viewer(member.token) is not None
    act(boss, TOKENS, "end", token.pk, reason="lost phone")
    assert find_viewer(member.token) is None
    assert LogEntry.objects.count() == 1


def test_deleting_an_application_ends_its_tokens(boss: Client, member: Person) -> None:
    application = Application.objects.get(name="Reader")
    assert find_viewer(member.token) is not None
    act(boss, APPLICATIONS, "end", application.pk, reason="it spies")
    assert not Application.objects.filter(name="Reader").exists()
    assert find_viewer(member.token) is None


def test_looking_is_not_ending(boss: Client, member: Person) -> None:
    watcher = User.objects.create(username="watcher", is_staff=True)
    watcher.user_permissions.set(Permission.objects.filter(codename="view_accesstoken"))
    browser = Client()
    sign_in(browser, watcher)
    assert browser.get(reverse(TOKENS)).status_code == 200
    act(browser, TOKENS, "end", AccessToken.objects.get(user_id=member.id).pk, reason="fun")
    assert find_viewer(member.token) is not None


def test_nothing_is_added_by_hand(boss: Client) -> None:
    for page in ["accounts_user_add", "accounts_accesstoken_add", "accounts_application_add"]:
        assert boss.get(reverse(f"admin:{page}")).status_code == 403, page


def test_every_page_opens(boss: Client, member: Person) -> None:
    for model in ["user", "accesstoken", "application"]:
        for page in (f"admin:accounts_{model}_changelist", "admin:index"):
            assert boss.get(reverse(page)).status_code == 200, model
        rows = {"user": User, "accesstoken": AccessToken, "application": Application}
        row = rows[model].objects.order_by("-pk").first()
        page = boss.get(reverse(f"admin:accounts_{model}_change", args=[row.pk]))
        assert page.status_code == 200, model
        assert member.token.encode() not in page.content, model


LISTS = (
    *("axes_accessattempt", "promotions_campaign"),
    *("accounts_application", "accounts_accesstoken", "moderation_decision", "moderation_appeal"),
    *("moderation_timedrestriction", "moderation_jointdecision"),
)


def test_lists_go_by_key_and_count_nothing(boss: Client, member: Person) -> None:
    for name in LISTS:
        page = reverse(f"admin:{name}_changelist")
        boss.get(page)
        with count_calls() as calls:
            assert boss.get(page, {"after": str(10**9)}).status_code == 200, name
        # Session, user, its token, its second step, the page; superusers' rights are asked nowhere.
        assert calls.sql == {"default": 5}, name
        assert not any("count(" in one.sql.lower() for one in calls.statements), name
        for after in ("x", str(2**64)):
            assert boss.get(page, {"after": after}, follow=True).status_code == 200, name


@pytest.mark.parametrize(
    ("term", "found"),
    [("an", 1), ("@ANN", 1), ("nn", 0), ("Ann@Example.com", 1), ("nn@example.com", 0), ("\x00", 3)],
)
def test_users_are_found_by_what_is_indexed(
    boss: Client, member: Person, term: str, found: int
) -> None:
    User.objects.create(username="ben")
    User.objects.filter(pk=member.id).update(email="ann@example.com")
    answer = boss.get(reverse("admin:accounts_user_changelist"), {"q": term})
    assert len(answer.context["cl"].result_list) == found


def test_the_quota_of_an_application_is_set(boss: Client, member: Person) -> None:
    application = Application.objects.get(name="Reader")
    page = reverse("admin:accounts_application_change", args=[application.pk])
    form = {"name": application.name, "website": "", "quota": "1000"}
    assert boss.post(page, form).status_code == 302
    assert Application.objects.get(name="Reader").quota == 1_000
    for bad in ("0", "-1", "x", str(2**64), "\x00"):
        assert boss.post(page, form | {"quota": bad}).status_code == 200
    assert Application.objects.get(name="Reader").quota == 1_000
    assert boss.post(page, form | {"quota": ""}).status_code == 302
    assert Application.objects.get(name="Reader").quota is None


def test_only_superusers_let_an_application_act_without_consent(
    boss: Client, member: Person
) -> None:
    operator = User.objects.create(username="operator", is_staff=True)
    operator.user_permissions.set(
        Permission.objects.filter(codename__in=("view_application", "change_application"))
    )
    browser = Client()
    sign_in(browser, operator)
    application = Application.objects.get(name="Reader")
    page = reverse("admin:accounts_application_change", args=[application.pk])
    form = {"name": "Reader", "website": "", "quota": "", "skip_authorization": "on"}
    for one, may in ((browser, False), (boss, True)):
        one.post(page, form | {"reason": "asked for", "quota": "7"})
        application.refresh_from_db()
        assert application.quota == 7
        assert application.skip_authorization is may
        application.quota = None
        application.save()
