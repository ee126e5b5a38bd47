"""Members of groups at the pages of moderators, and what those pages cost."""

import re
from html import unescape

from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import Account, User
from infra.sharding.buckets import shard_of
from moderation.groups import create_groups
from tests.callers import sign_in
from tests.world import make_account


def member(group: str, name: str) -> Client:
    create_groups()
    user = User.objects.get(pk=make_account(name))
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    browser = Client()
    sign_in(browser, user)
    # The first request of a process asks for what it keeps: content types, routes.
    browser.get("/admin/")
    return browser


def name_account(account_id: int, display_name: str, note: str = "") -> None:
    rows = Account.objects.on(shard_of(account_id)).filter(id=account_id)
    rows.update(display_name=display_name, note=note)


def words_at(browser: Client, path: str) -> str:
    """The text of a page, without its tags."""
    answer = browser.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    page = answer.content.decode()
    main = page[page.index('id="content"') :]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())
