"""The main path in a browser that runs no scripts."""

import pytest

from accounts.models import User
from relations.actions.follow import follow
from tests.browser.feeds import make_named, sign_out, write_post
from tests.world import drain_all, publish

pytestmark = pytest.mark.core

PASSWORD = "a-password-of-tests-0123"


def test_a_person_reads_writes_and_leaves_without_scripts(tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    user = User.objects.get(pk=ann)
    user.set_password(PASSWORD)
    user.save()
    follow(ann, ben)
    for n in range(25):
        publish(ben, f"post number {n} of ben")
    drain_all()
    tab = tab_of(has_scripts=False)
    tab.open("/")
    tab.follow("Sign in")
    tab.fill("Username or e-mail address", "ann")
    tab.fill("Password", PASSWORD)
    tab.press("Sign in")
    tab.see("post number 24 of ben")
    write_post(tab, "written without a script")
    tab.see("written without a script")
    tab.follow("Older posts")
    tab.see("post number 0 of ben")
    tab.click(".entry:last-of-type .act.favourite")
    tab.expect(tab.find(".act.favourite[aria-pressed=true]")).to_have_count(1)
    tab.open("/@ann")
    tab.click(".post .menu summary")
    tab.follow("Delete…")
    tab.press("Delete")
    tab.at("/")
    tab.see_no("written without a script")
    sign_out(tab, "ann")
    tab.at("/auth/sign_in")
