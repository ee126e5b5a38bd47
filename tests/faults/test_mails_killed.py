"""A process dies with -9 between a change that asks for a mail, and the mail.

The change is left, and nothing else. The next drain sends the mail; after a drain that died behind
the mail it is sent twice. The person may also ask once more. Each of the links works until one is
used.
"""

import re
from email import message_from_string, policy
from signal import SIGKILL

import pytest
from django.conf import LazySettings
from django.contrib.auth.hashers import make_password
from django.core import mail

from accounts.actions import change_email as addresses
from accounts.actions import change_password as passwords
from accounts.api.quotas import EMAIL_CHANGES, HOUR_S, PASSWORD_RESETS
from accounts.models import User
from infra.caching.quotas import Quotas
from infra.changes.compensate import drain
from infra.changes.lanes import lane_of
from infra.changes.models import Change
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from tests.integration.pages.browsing import Browser
from tests.loaded_process import run_loaded
from tests.sign_ups import FAST_HASHERS, PASSWORD
from tests.world import drain_all, make_account

OLD, NEW = "ann@example.org", "new@example.org"
OTHER_PASSWORD = "another fine word"
SCRIPT = """
import os, signal, sys
import django
django.setup()
from accounts.actions.change_email import ask_email_change
from accounts.actions.change_password import ask_password_reset
from accounts.actions.change_email import change_email
from accounts.models import User
from infra.changes.compensate import drain
from infra.changes.failpoints import arm
from infra.changes.lag import list_lane_lags
from datetime import UTC, datetime
from moderation.actions.decide import decide_on_account
from moderation.types import DecisionKind, DecisionOrigin
place, act, *texts = sys.argv[1:]
user = User.objects.get(username="ann")
arm(place, lambda: os.kill(os.getpid(), signal.SIGKILL))
if act == "ask_password_reset":
    ask_password_reset(user.username)
elif act == "ask_email_change":
    ask_email_change(user, *texts)
elif act == "warn":
    decide_on_account(user.pk, DecisionKind.WARN, DecisionOrigin(None, "spam"), datetime.now(UTC))
elif act == "change_email":
    change_email(user.pk, *texts)
else:
    for lag in list_lane_lags("default"):
        drain("default", lag.lane)
"""
ASKS = {"ask_password_reset": [], "ask_email_change": [NEW]}
EXPIRE = "UPDATE changes_drainlease SET expires_at = clock_timestamp() - interval '1 s'"


@pytest.fixture
def ann_at_home(world: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Browser:
    for counter in (PASSWORD_RESETS, EMAIL_CHANGES, passwords, addresses):
        monkeypatch.setattr(counter, "_quotas", Quotas(HOUR_S))  # nothing is counted yet
    settings.PASSWORD_HASHERS = FAST_HASHERS
    account_id = make_account("ann")
    User.objects.update(password=make_password(PASSWORD), email=OLD)
    return Browser(account_id)


def killed_at(place: str, act: str, *texts: str) -> str:
    """What the process printed: in development mails go there."""
    code, printed = run_loaded("-c", SCRIPT, place, act, *texts, MAIL_URL="consolemail://")
    assert code == -SIGKILL
    execute(GLOBAL_ALIAS, EXPIRE)  # of a drain; others wait for that long
    return printed


def ask(ann_at_home: Browser, act: str) -> None:
    if act == "ask_password_reset":
        ann_at_home.send("/auth/password", {"name": "ann"})
    else:
        ann_at_home.send("/settings/email", {"email": NEW, "password": PASSWORD})


def links() -> list[str]:
    return re.findall(
        r"http://localhost:8000(/\S+)", "\n".join(str(one.body) for one in mail.outbox)
    )


def assert_they_work_once(ann_at_home: Browser, found: list[str]) -> None:
    for link in found:
        ann_at_home.read(link)
    assert ann_at_home.send(found[0], {"password": OTHER_PASSWORD}).status_code == 303
    for link in found:
        ann_at_home.read(link, 410)


@pytest.mark.parametrize("act", ASKS)
def test_a_request_that_died_has_its_mail_and_a_second_one_too(
    ann_at_home: Browser, act: str
) -> None:
    killed_at("changes.committed", act, *ASKS[act])
    assert Change.objects.using(GLOBAL_ALIAS).count() == 1
    drain_all()
    assert len(links()) == 1
    ask(ann_at_home, act)
    drain_all()
    assert len(links()) == 2
    assert_they_work_once(ann_at_home, links())


@pytest.mark.parametrize("act", ASKS)
@pytest.mark.parametrize(
    ("place", "sent"), [("drain.before_delivery", 0), ("deliver.after_consumer", 1)]
)
def test_a_drain_that_died_leaves_the_mail_to_the_next(
    ann_at_home: Browser, act: str, place: str, sent: int
) -> None:
    ask(ann_at_home, act)
    # Mails wrap their long lines, so the printed text is read as a mail.
    printed = message_from_string(killed_at(place, "drain"), policy=policy.default)
    before = re.findall(r"http://localhost:8000(/\S+)", printed.get_content())
    assert len(before) == sent
    drain_all()
    assert len(links()) == 1
    assert_they_work_once(ann_at_home, [*before, *links()])


def test_a_change_of_the_address_that_died_still_warns_the_old_one(ann_at_home: Browser) -> None:
    ask(ann_at_home, "ask_email_change")
    drain_all()
    [link] = links()
    killed_at("changes.committed", "change_email", NEW, link.rpartition("/")[2])
    ann_at_home.read(link, 410)
    assert NEW in ann_at_home.read("/settings/email")
    drain_all()
    assert mail.outbox[-1].to == [OLD] and len(mail.outbox) == 2


def test_a_decision_that_died_is_notified_and_mailed_once(ann_at_home: Browser) -> None:
    killed_at("changes.committed", "warn")
    drain_all()
    assert [one.to for one in mail.outbox] == [[OLD]]
    assert ann_at_home.read("/notifications").count("The moderators warn you.") == 1


def test_a_drain_that_died_behind_the_mail_of_a_decision_sends_it_twice(
    ann_at_home: Browser,
) -> None:
    """Between the mail and its note is the only place where that happens."""
    killed_at("changes.committed", "warn")
    drain(GLOBAL_ALIAS, lane_of(User.objects.get().pk))
    printed = killed_at("moderation.mailed", "drain")
    assert printed.count("Subject: ") == 1
    drain_all()
    drain_all()
    assert len(mail.outbox) == 1
    assert ann_at_home.read("/notifications").count("The moderators warn you.") == 1
