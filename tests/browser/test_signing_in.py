"""Signing in to the admin, and what each group finds there."""

import pytest

from tests.browser.tab import Tab
from tests.people import make_boss, make_member

pytestmark = pytest.mark.core

PASSWORD = "a-password-of-tests-0123"
DRAWN_PX = """(async () => {
  const icon = new Image();
  icon.src = document.querySelector("link[rel=icon]").href;
  await icon.decode();
  return icon.naturalWidth;
})()"""


def sign_in_by_form(tab: Tab, name: str, password: str) -> None:
    tab.open("/admin/")
    tab.fill("Username or e-mail address", name)
    tab.fill("Password", password)
    tab.press("Sign in")


def test_a_superuser_signs_in_by_the_form_and_out_again(tab: Tab) -> None:
    make_boss("boss", PASSWORD)
    sign_in_by_form(tab, "boss", PASSWORD)
    tab.at("/admin/")
    tab.see("Live charts", "Parked changes", "Hot keys", "Reports")
    tab.press("Log out")
    tab.at("/auth/sign_in")
    tab.open("/admin/")
    tab.at("/auth/sign_in?next=/admin/")


def test_a_wrong_password_lets_nobody_in(tab: Tab) -> None:
    make_boss("boss", PASSWORD)
    sign_in_by_form(tab, "boss", "wrong")
    tab.see("The name or the password is wrong.")
    tab.expect(tab.find("#id_password")).to_be_focused()
    tab.open("/admin/operations/")
    tab.at("/auth/sign_in?next=/admin/operations/")


def test_moderators_see_their_queues_and_no_page_of_operators(tab: Tab) -> None:
    tab.sign_in(make_member("moderator", "mia"))
    tab.open("/admin/")
    tab.see("Reports", "Appeals", "Decisions", "Users")
    for words in ("Live charts", "Parked changes", "Security", "Campaigns", "Job runs"):
        tab.see_no(words)
    for page in ("operations/", "find/", "parked/", "hot_keys/", "moves/", "axes/accessattempt/"):
        tab.open(f"/admin/{page}", status=403)
    tab.open("/admin/moderation/report/")
    tab.expect(tab.find("h1").first).to_have_text("Reports")


def test_operators_see_their_pages_and_no_queue(tab: Tab) -> None:
    tab.sign_in(make_member("operator", "otto"))
    tab.open("/admin/")
    tab.see("Live charts", "Parked changes", "Users", "Campaigns", "Job runs", "Failed sign-ins")
    # How many wait is a figure of the first page, which leads operators nowhere.
    tab.see("Open reports")
    tab.expect(tab.find("a[href*='moderation/report']")).to_have_count(0)
    tab.open("/admin/moderation/report/", status=403)


def test_the_icon_is_drawn_under_the_policy_of_the_page(tab: Tab) -> None:
    tab.open("/auth/sign_in")
    assert tab.run(DRAWN_PX) > 0
