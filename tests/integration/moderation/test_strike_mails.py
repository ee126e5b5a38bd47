"""Each decision is mailed to its account, with the reason and the way to appeal. Once."""

import re
import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from smtplib import SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from django.conf import LazySettings as Settings
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import User
from accounts.site_texts.models import SiteTexts
from accounts.site_texts.queries import forget_site_description
from config.django_settings import mail_settings
from infra.changes.models import Change, ChangeState
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from moderation.actions import notify_of_strikes
from moderation.actions.by_owner import delete_own_account
from moderation.models import Decision
from moderation.types import DecisionKind
from tests.callers import Caller
from tests.dying import armed
from tests.integration.notifications.listing import V1, replay_everything, told
from tests.integration.pages.browsing import Browser
from tests.people import BECAUSE, decide, decide_on
from tests.world import drain_all, make_account, publish

SMTP = "django.core.mail.backends.smtp.EmailBackend"
DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"
LINK = re.compile(r"http://localhost:8000(/\S+)")


@pytest.fixture(autouse=True)
def address(ann: int) -> Iterator[None]:
    User.objects.update(email="ann@example.org")
    forget_site_description()
    yield
    forget_site_description()


def bodies() -> list[str]:
    return [str(one.body) for one in mail.outbox]


def deliver_again() -> None:
    execute(GLOBAL_ALIAS, DUE)
    drain_all()


def left() -> Sequence[tuple[str, int]]:
    """Changes that are not delivered, with their state."""
    return list(Change.objects.using(GLOBAL_ALIAS).values_list("kind", "state"))


def test_the_mail_says_what_why_and_leads_to_the_notice_and_its_appeal(ann: int) -> None:
    decide_on(publish(ann, "a boat"), DecisionKind.HIDE)
    drain_all()
    [sent] = mail.outbox
    assert (sent.subject, sent.to) == (
        "Tideline: a decision of the moderators about you",
        ["ann@example.org"],
    )
    for part in ("Hello @ann", "A post of yours is hidden.", f"Reason: {BECAUSE.reason}"):
        assert part in sent.body
    [link] = LINK.findall(str(sent.body))
    page = Browser(ann).read(link.partition("#")[0])
    assert f'id="{link.partition("#")[2]}"' in page and "Send the appeal" in page
    assert Decision.objects.get().mailed_at is not None


def test_who_is_suspended_reads_until_when_and_whom_to_write_to(ann: int) -> None:
    SiteTexts.objects.create(email="desk@example.org")
    ends_at = datetime.now(UTC) + timedelta(days=7)
    decide(ann, DecisionKind.SUSPEND, ends_at=ends_at)
    drain_all()
    [body] = bodies()
    assert "Your account is suspended. It ends by itself:" in body and str(ends_at.year) in body
    assert "You can appeal once" in body and "desk@example.org" in body
    assert not LINK.findall(body)


def test_without_an_address_of_the_site_the_mail_names_its_page(ann: int) -> None:
    decide(ann, DecisionKind.SUSPEND)
    drain_all()
    assert LINK.findall(bodies()[0]) == ["/about"]


def test_it_is_in_the_language_of_the_account(ann: int) -> None:
    User.objects.update(language="de")
    decide(ann, DecisionKind.FREEZE)
    drain_all()
    assert "Entscheidung der Moderation" in mail.outbox[0].subject
    assert "Dein Konto ist eingefroren" in bodies()[0] and "Grund: spam" in bodies()[0]


def test_who_has_no_address_or_deleted_the_account_gets_none(ann: int, settings: Settings) -> None:
    delete_own_account(ann, datetime.now(UTC))
    decide(make_account("bob"), DecisionKind.WARN)
    settings.MAIL_URL = ""
    decide(ann, DecisionKind.WARN)
    drain_all()
    assert mail.outbox == [] and left() == []
    assert not Decision.objects.exclude(mailed_at=None).exists()


def test_a_replay_sends_no_second_mail(ann: int) -> None:
    decide(ann, DecisionKind.WARN)
    drain_all()
    replay_everything(GLOBAL_ALIAS)
    assert len(mail.outbox) == 1


class Server:
    """Refuses the mails to an address, or is away."""

    def __init__(self) -> None:
        self.away: type[OSError] | None = None
        self.refuses = ""
        self.tries = 0

    def take(self, messages: Sequence[EmailMessage]) -> None:
        self.tries += 1
        if self.away:
            raise self.away("no answer")
        if self.refuses in messages[0].to:
            raise SMTPRecipientsRefused({self.refuses: (550, b"no such mailbox")})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server, send_messages = Server(), EmailBackend.send_messages

    def send(backend: EmailBackend, messages: Sequence[EmailMessage]) -> int:
        server.take(messages)
        return send_messages(backend, messages)

    monkeypatch.setattr(EmailBackend, "send_messages", send)
    return server


@pytest.mark.parametrize("error", [TimeoutError, ConnectionRefusedError, SMTPServerDisconnected])
def test_a_server_that_is_away_delays_the_mails_and_loses_none(
    ann: int, server: Server, error: type[OSError]
) -> None:
    server.away = error
    for _ in range(5):
        decide(ann, DecisionKind.WARN)
    drain_all()
    assert server.tries <= 2, "each mail would wait for the server"
    assert len(told(Caller(ann), {"types[]": "moderation_warning"})) == 5
    assert left() == [("moderation.strike_mail_left", ChangeState.PENDING)] * 5
    assert set(Change.objects.using(GLOBAL_ALIAS).values_list("attempts", flat=True)) == {0}
    server.away = None
    deliver_again()
    assert len(mail.outbox) == 5 and left() == []


def test_a_server_that_hangs_is_left_after_its_deadline(ann: int, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        smtp = {"EMAIL_BACKEND": SMTP, "EMAIL_HOST": host, "EMAIL_PORT": port, "EMAIL_TIMEOUT": 0.2}
        for name, value in mail_settings(smtp).items():
            setattr(settings, name, value)
        decide(ann, DecisionKind.WARN)
        decide(ann, DecisionKind.WARN)
        drain_all()
    assert left() == [("moderation.strike_mail_left", ChangeState.PENDING)] * 2


def test_a_refused_address_sends_no_other_mail_twice(ann: int, server: Server) -> None:
    others = [make_account(name) for name in ("bob", "cyd", "dan")]
    for name in ("bob", "cyd", "dan"):
        User.objects.filter(username=name).update(email=f"{name}@example.org")
    server.refuses = "cyd@example.org"
    for account_id in (ann, *others):
        decide(account_id, DecisionKind.WARN)
    drain_all()
    for _ in range(3):
        deliver_again()
    assert sorted(one.to[0][:3] for one in mail.outbox) == ["ann", "bob", "dan"]
    assert left() == [("moderation.strike_mail_left", ChangeState.PENDING)]


def test_a_slow_server_ends_the_batch_and_the_next_sends_the_others(
    ann: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        decide(ann, DecisionKind.WARN)
    monkeypatch.setattr(notify_of_strikes, "LONGEST_S", -1.0)
    drain_all()
    assert mail.outbox == [] and len(left()) == 3
    monkeypatch.undo()
    deliver_again()
    assert len(mail.outbox) == 3


def test_a_drain_that_dies_behind_a_mail_sends_only_that_one_again(ann: int) -> None:
    decide(ann, DecisionKind.WARN)
    decide(ann, DecisionKind.LIMIT)
    with armed("moderation.mailed", lambda: 1 / 0 if len(mail.outbox) == 2 else None):
        drain_all()
    deliver_again()
    assert [body.count("The moderators warn you.") for body in bodies()].count(1) == 1
    assert len(mail.outbox) <= 3 and left() == []


def test_a_decision_does_not_wait_for_the_server(ann: int, server: Server) -> None:
    decide(ann, DecisionKind.WARN)
    assert server.tries == 0
    assert Caller(ann).get(V1).status_code == 200
