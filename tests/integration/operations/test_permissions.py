"""Pages of operators are for operators."""

from django.test import Client
from django.urls import reverse

from accounts.models import User
from operations.site import PAGES
from tests.callers import sign_in

WITH_ARGS = [
    ("find_account", [1]),
    ("find_post", ["00000100000203"]),
    ("find_edge", [1, 2]),
    ("find_notifications", [1]),
    ("home_timeline", [1]),
    ("rebuild_home", [1]),
    ("act_on_parked", []),
    ("operations_charts", []),
    ("operations_now", []),
]
ALL = [*((name, []) for name in PAGES), *WITH_ARGS]


def test_moderators_are_refused(moderator):
    for name, args in ALL:
        assert moderator.get(reverse(name, args=args)).status_code == 403, name
        assert moderator.post(reverse(name, args=args)).status_code == 403, name


def test_others_are_sent_to_sign_in(world):
    for name, args in ALL:
        answer = Client().get(reverse(name, args=args))
        assert answer.status_code == 302, name
        assert "/login/" in answer.headers["Location"], name


def test_operators_and_superusers_see_them(operator):
    boss = Client()
    sign_in(boss, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    for name in PAGES:
        for browser in (operator, boss):
            assert browser.get(reverse(name)).status_code == 200, name


def test_the_index_leads_operators_to_their_pages(operator):
    index = operator.get("/admin/").content.decode()
    assert all(reverse(name) in index for name in PAGES)
    assert reverse("admin:jobs_jobrun_changelist") in index
    assert reverse("admin:promotions_campaign_changelist") in index
    assert reverse("admin:accounts_application_changelist") in index


def test_the_index_does_not_show_them_to_moderators(moderator):
    index = moderator.get("/admin/").content.decode()
    assert not any(reverse(name) in index for name in PAGES)
    assert "/admin/jobs/" not in index
    assert moderator.get(reverse("admin:jobs_jobrun_changelist")).status_code == 403
