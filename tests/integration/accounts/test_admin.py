"""The admin does what the API's actions do, asks a reason and leaves a trace."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import AccessToken, Application, User
from accounts.queries.viewers import find_viewer
from tests.integration.accounts.people import Person

TOKENS = "admin:accounts_accesstoken_changelist"
APPLICATIONS = "admin:accounts_application_changelist"


@pytest.fixture
def boss(world: None) -> Client:
    browser = Client()
    browser.force_login(User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def act(browser: Client, page: str, action: str, pk: int, **form: Any) -> Any:
    return browser.post(reverse(page), {"action": action, "_selected_action": [pk], **form})


def test_ending_a_token(boss: Client, ann: Person) -> None:
    token = AccessToken.objects.get(user_id=ann.id)
    act(boss, TOKENS, "end", token.pk, reason=" ")
    assert find_viewer(ann.token) is not None
    act(boss, TOKENS, "end", token.pk, reason="lost phone")
    assert find_viewer(ann.token) is None
    assert LogEntry.objects.count() == 1


def test_deleting_an_application_ends_its_tokens(boss: Client, ann: Person) -> None:
    application = Application.objects.get()
    assert find_viewer(ann.token) is not None
    act(boss, APPLICATIONS, "end", application.pk, reason="it spies")
    assert not Application.objects.exists()
    assert find_viewer(ann.token) is None


def test_looking_is_not_ending(boss: Client, ann: Person) -> None:
    watcher = User.objects.create(username="watcher", is_staff=True)
    watcher.user_permissions.set(Permission.objects.filter(codename="view_accesstoken"))
    browser = Client()
    browser.force_login(watcher)
    assert browser.get(reverse(TOKENS)).status_code == 200
    act(browser, TOKENS, "end", AccessToken.objects.get(user_id=ann.id).pk, reason="fun")
    assert find_viewer(ann.token) is not None


@pytest.mark.parametrize(
    "page", ["accounts_user_add", "accounts_accesstoken_add", "accounts_application_add"]
)
def test_nothing_is_added_by_hand(boss: Client, page: str) -> None:
    assert boss.get(reverse(f"admin:{page}")).status_code == 403


@pytest.mark.parametrize("model", ["user", "accesstoken", "application"])
def test_every_page_opens(boss: Client, ann: Person, model: str) -> None:
    for page in (f"admin:accounts_{model}_changelist", "admin:index"):
        assert boss.get(reverse(page)).status_code == 200
    rows = {"user": User, "accesstoken": AccessToken, "application": Application}
    row = rows[model].objects.order_by("-pk").first()
    page = boss.get(reverse(f"admin:accounts_{model}_change", args=[row.pk]))
    assert page.status_code == 200
    assert ann.token.encode() not in page.content
