"""Members of the groups of those who work here, at their browsers."""

from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import User
from moderation.groups import create_groups
from tests.callers import sign_in
from tests.world import make_account


def staff_of(group: str) -> Client:
    create_groups()
    user = User.objects.get(pk=make_account(f"{group}_ann"))
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=group))
    browser = Client()
    sign_in(browser, user)
    # The first request of a process asks for what it keeps: content types, routes.
    browser.get("/admin/")
    return browser
