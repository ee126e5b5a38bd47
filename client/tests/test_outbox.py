"""What is written down when users are saved, and what a drain makes of it."""

import re
from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext_lazy

from provisioning_double import ProvisioningDouble
from site_double import SiteDouble, refused
from tideline_client import TokenRefused, Unavailable
from tideline_client.contrib.django import drain
from tideline_client.contrib.django.management.commands import sync_tideline
from tideline_client.contrib.django.models import AccountSync
from tideline_client.contrib.django.outbox import (
    request_deletion,
    request_sync_of_all,
    request_sync_of_missing,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def site():
    return ProvisioningDouble()


@pytest.fixture
def client(site):
    return SiteDouble(site).client(retries=0)


def drain_all(client):
    sent = refused = 0
    while (batch := drain.drain_batch(client)) is not None:
        sent, refused = sent + batch.sent, refused + batch.refused
    return sent, refused


def make_due():
    AccountSync.objects.exclude(due_at=None).update(due_at=now() - timedelta(seconds=1))


def row_of(user):
    return AccountSync.objects.get(external_id=str(user.pk))


def test_a_saved_user_is_sent_once(ann, site, client):
    assert row_of(ann).due_at is not None
    assert drain_all(client) == (1, 0)
    [account] = site.accounts.values()
    assert (account["username"], account["display_name"]) == ("ann", "Ann A.")
    row = row_of(ann)
    assert (row.due_at, row.account_id, row.taken_by) == (None, account["account_id"], "")
    assert drain_all(client) == (0, 0)
    ann.first_name = "Anna"
    ann.save()
    assert drain_all(client) == (1, 0)
    assert site.accounts[str(ann.pk)]["display_name"] == "Anna A."


def test_the_row_is_part_of_the_transaction_of_the_user():
    class Stop(Exception):
        pass

    with pytest.raises(Stop), transaction.atomic():
        User.objects.create_user("ann")
        assert AccountSync.objects.exists()
        raise Stop
    assert not AccountSync.objects.exists()


def test_a_sign_in_sends_nothing(ann, client):
    drain_all(client)
    ann.last_login = now()
    ann.save(update_fields=["last_login"])
    assert row_of(ann).due_at is None
    ann.save(update_fields=["first_name"])
    assert row_of(ann).due_at is not None


def test_users_without_a_row_are_found(ann, client):
    AccountSync.objects.all().delete()
    User.objects.bulk_create([User(username=f"user{number}") for number in range(3)])
    request_sync_of_missing()
    assert drain_all(client) == (4, 0)
    request_sync_of_missing()
    assert drain_all(client) == (0, 0)
    assert request_sync_of_all() == 4
    assert drain_all(client) == (4, 0)


def test_many_users_go_by_the_hundred(client, site, django_assert_max_num_queries):
    User.objects.bulk_create([User(username=f"user{number}") for number in range(250)])
    request_sync_of_missing()
    assert drain_all(client) == (250, 0)
    assert [len(batch) for batch in site.batches] == [100, 100, 50]


def test_a_user_that_changes_while_it_is_sent_is_sent_again(ann, site):
    def answer(request: httpx.Request) -> httpx.Response:
        if not site.accounts:
            User.objects.get(pk=ann.pk).save()  # in another process of the product
        return site(request)

    client = SiteDouble(answer).client()
    assert drain.drain_batch(client) == (1, 0)
    row = row_of(ann)
    assert row.account_id
    assert row.due_at is not None
    make_due()
    drain_all(client)
    assert row_of(ann).due_at is None


def test_two_runs_take_different_rows(ann, client):
    taken = drain._take("default")
    assert [row.external_id for row in taken] == [str(ann.pk)]
    assert drain._take("default") == []
    assert drain.drain_batch(client) is None


def test_a_username_that_tideline_does_not_allow_is_made_fit(client, site):
    names = ("ann.b+c@example.org", "x" * 80, "Élodie", "Weißbär", "jean日本")
    users = [User.objects.create_user(name) for name in names]
    drain_all(client)
    shown = [site.accounts[str(user.pk)]["username"] for user in users]
    assert shown == ["ann_b_c", "x" * 30, "Elodie", "Weissbar", "jean"]


def test_a_name_of_which_nothing_is_left_or_that_is_of_staff_becomes_one_that_says_nothing(
    client, site
):
    """And not the id of the user, which everybody would read."""
    names = ("日本", "@", "Борис", "support", "ann", "ann@example.org")
    users = [User.objects.create_user(name, id=9001 + n) for n, name in enumerate(names)]
    assert drain_all(client) == (len(names), 0)
    shown = [site.accounts[str(user.pk)]["username"] for user in users]
    assert all(re.fullmatch(r"user_[a-z2-9]{5}", name) for name in shown[:4]), shown
    assert [name[:3] for name in shown[4:]] == ["ann", "ann"] and len(set(shown)) == len(shown)
    assert not any(str(user.pk) in name for user, name in zip(users, shown, strict=True))
    request_sync_of_all()
    assert drain_all(client) == (len(names), 0)
    assert [site.accounts[str(user.pk)]["username"] for user in users] == shown


def test_a_name_that_another_account_has_gets_an_end(client, site):
    first, second = (User.objects.create_user(f"ann{sign}") for sign in "-+")
    User.objects.filter(pk=first.pk).update(username="ann.")
    assert drain_all(client) == (2, 0)
    names = sorted(site.accounts[str(user.pk)]["username"] for user in (first, second))
    assert names[0] == "ann" and re.fullmatch("ann_[a-z2-9]{5}", names[1])
    for user in (first, second):
        user.save()
    assert drain_all(client) == (2, 0)


def test_a_name_in_another_script_gets_one_name_and_keeps_it(client, site):
    user = User.objects.create_user("日本")
    drain_all(client)
    name = site.accounts[str(user.pk)]["username"]
    assert re.fullmatch(r"user_[a-z0-9]{5}", name)
    AccountSync.objects.update(account_id="")  # as after a kill before the mark
    user.save()
    assert drain_all(client) == (1, 0)
    assert site.accounts[str(user.pk)]["username"] == name


@pytest.mark.parametrize("is_taken", [False, True])
def test_another_username_of_the_product_renames_the_account(ann, site, client, is_taken):
    drain_all(client)
    if is_taken:
        site.put("of another product", {"username": "anna"})
    ann.username, ann.first_name = "anna", "Anna"
    ann.save()
    assert drain_all(client) == (1, 0)
    account = site.accounts[str(ann.pk)]
    assert account["username"] == ("ann" if is_taken else "anna")
    assert account["display_name"] == "Anna A."


@pytest.mark.parametrize("status", [403, 422, 503])
def test_a_refused_user_says_why_and_is_tried_later(ann, site, client, status):
    ben = User.objects.create_user("ben")
    site.refuse[str(ann.pk)] = status
    assert drain_all(client) == (1, 1)
    row = row_of(ann)
    assert (row.failures, row.error) == (1, "not this one")
    assert row.due_at is not None
    assert now() < row.due_at < now() + timedelta(seconds=drain.LONGEST_PAUSE_S)
    assert row_of(ben).due_at is None
    site.refuse.clear()
    make_due()
    assert drain_all(client) == (1, 0)
    assert (row_of(ann).failures, row_of(ann).error) == (0, "")


def test_a_user_that_is_deleted_before_it_was_sent_has_no_account(ann, client, site):
    ann.delete()
    assert drain_all(client) == (1, 0)
    assert site.accounts == {}
    assert AccountSync.objects.get().due_at is None


def delete_one(user):
    user.delete()


def delete_many(user):
    User.objects.filter(pk=user.pk).delete()


def delete_by_sql(user):
    with transaction.atomic():
        request_deletion(user)
        User.objects.filter(pk=user.pk)._raw_delete("default")


@pytest.mark.parametrize("delete", [delete_one, delete_many, delete_by_sql])
def test_a_deleted_user_loses_the_account(ann, client, site, delete):
    drain_all(client)
    ben = User.objects.create_user("ben")
    number = str(ann.pk)
    delete(ann)
    assert drain_all(client) == (2, 0)
    assert site.accounts[number]["deleted"]
    assert not site.accounts[str(ben.pk)]["deleted"]
    request_sync_of_all()
    drain_all(client)
    assert site.accounts[number]["deleted"]


def test_a_deletion_that_is_rolled_back_deletes_nothing(ann, client, site):
    class Stop(Exception):
        pass

    drain_all(client)
    with pytest.raises(Stop), transaction.atomic():
        ann.delete()
        raise Stop
    assert drain_all(client) == (0, 0)


def test_a_user_who_is_only_missing_loses_nothing(ann, client, site):
    """A database that was put back, or one that has no users, must not delete accounts."""
    drain_all(client)
    number = str(ann.pk)
    User.objects.filter(pk=ann.pk)._raw_delete("default")
    AccountSync.objects.update(due_at=now())
    assert drain_all(client) == (1, 0)
    assert not site.accounts[number]["deleted"]


def test_a_refused_deletion_is_tried_again(ann, client, site):
    drain_all(client)
    site.refuse[str(ann.pk)] = 403
    ann.delete()
    assert drain_all(client) == (0, 1)
    site.refuse.clear()
    make_due()
    assert drain_all(client) == (1, 0)
    [account] = site.accounts.values()
    assert account["deleted"]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_user_who_is_deactivated_has_no_account_meanwhile(ann, client, site, is_known):
    if is_known:
        drain_all(client)
    ann.is_active = False
    ann.save()
    assert drain_all(client) == (1, 0)
    assert [each["suspended"] for each in site.accounts.values()] == [True] * is_known
    ann.is_active, ann.first_name = True, "Anna"
    ann.save()
    assert drain_all(client) == (1, 0)
    [account] = site.accounts.values()
    assert not account["suspended"]
    assert account["display_name"] == "Anna A."


def no_profile(user):
    """For `TIDELINE["PROFILE"]`."""
    return None if user.username.startswith("robot") else {"username": user.username, "bot": False}


def test_a_function_of_the_product_makes_the_profile(ann, client, site, settings):
    settings.TIDELINE = settings.TIDELINE | {"PROFILE": "test_outbox.no_profile"}
    User.objects.create_user("robot")
    drain_all(client)
    assert [account["username"] for account in site.accounts.values()] == ["ann"]
    User.objects.filter(pk=ann.pk).update(username="robot_2")
    User.objects.get(username="robot").delete()
    User.objects.get(username="robot_2").save()
    drain_all(client)
    [account] = site.accounts.values()
    assert account["suspended"], "it shall have no account any more"


def broken_profile(user):
    """For `TIDELINE["PROFILE"]`."""
    if user.username == "robot":
        raise ZeroDivisionError
    return {"username": user.username, "display_name": gettext_lazy("Member"), "note": None}


def test_a_user_whose_profile_fails_does_not_stop_the_others(ann, client, site, settings, caplog):
    settings.TIDELINE = settings.TIDELINE | {"PROFILE": "test_outbox.broken_profile"}
    robot = User.objects.create_user("robot")
    assert drain_all(client) == (1, 1)
    assert site.accounts[str(ann.pk)]["display_name"] == "Member"
    assert "ZeroDivisionError" in row_of(robot).error
    assert "failed for user" in caplog.text


def test_one_user_that_spoils_the_list_is_found(ann, site):
    ben = User.objects.create_user("ben")

    def answer(request: httpx.Request) -> httpx.Response:
        is_spoiled = request.url.path.endswith(("/accounts", f"/{ben.pk}"))
        return refused(422, "no external id") if is_spoiled else site(request)

    assert drain_all(SiteDouble(answer).client()) == (1, 1)
    assert [*site.accounts] == [str(ann.pk)]
    assert "no external id" in row_of(ben).error
    assert row_of(ann).due_at is None


def test_an_account_that_is_not_answered_is_not_done(ann, site):
    answer = httpx.Response(200, json=[])
    assert drain_all(SiteDouble(answer).client()) == (0, 1)
    assert "said nothing" in row_of(ann).error


@pytest.mark.parametrize(("failure", "kind"), [(503, Unavailable), (401, TokenRefused)])
def test_nothing_is_lost_while_tideline_is_away(ann, site, client, failure, kind):
    with pytest.raises(kind):
        drain.drain_batch(SiteDouble(refused(failure)).client(retries=0))
    row = row_of(ann)
    assert (row.failures, row.taken_by) == (0, "")
    make_due()
    assert drain_all(client) == (1, 0)


def test_the_command(ann, client, monkeypatch, capsys):
    monkeypatch.setattr(sync_tideline, "tideline", lambda: client)
    call_command("sync_tideline")
    assert capsys.readouterr().out == "1 sent, 0 refused\n"
    call_command("sync_tideline")
    assert capsys.readouterr().out == "0 sent, 0 refused\n"
    call_command("sync_tideline", "--everybody")
    assert capsys.readouterr().out == "1 sent, 0 refused\n"


@pytest.mark.parametrize(
    ("status", "text"),
    [(401, "refuses TIDELINE"), (403, "service:accounts"), (503, "is away, the users wait")],
)
def test_the_command_says_what_is_wrong(ann, monkeypatch, status, text):
    away = SiteDouble(refused(status)).client(retries=0)
    monkeypatch.setattr(sync_tideline, "tideline", lambda: away)
    with pytest.raises(CommandError, match=text):
        call_command("sync_tideline")
