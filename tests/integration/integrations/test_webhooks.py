"""Webhooks: every event is sent in its order, signed, again after failures, and on request."""

import threading
import time
from datetime import UTC, datetime, timedelta
from io import StringIO
from types import SimpleNamespace

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections, transaction
from standardwebhooks import Webhook as Receiver
from standardwebhooks import WebhookVerificationError

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from integrations.models import Webhook
from integrations.queries import events
from integrations.types import WebhookState
from integrations.verbs.webhooks import CreateWebhook, RedeliverEvents, ShowWebhooks
from integrations.webhooks import sender
from integrations.webhooks.rows import claim_webhooks, list_webhooks
from integrations.webhooks.sender import send_claimed, send_webhooks
from tests.callers import Caller
from tests.delivered import deliver_all
from tests.integration.integrations.test_events import publish
from tests.push_service import push_service
from tests.waiting import until
from tests.world import make_accounts

DUE = "UPDATE integrations_webhook SET next_attempt_at = now() - interval '1 second'"
TAKE_BACK = "UPDATE integrations_webhook SET {0} = {0} + interval '1 day'"
LATE = "UPDATE integrations_webhook SET failing_since = now() - interval '4 days'"


@pytest.fixture
def receiver(world, settings):
    settings.PUSH_PRIVATE_ADDRESSES = True
    with push_service() as service:
        service.status = 200
        yield service


@pytest.fixture(autouse=True)
def no_webhooks(world):
    yield
    execute("default", "DELETE FROM integrations_webhook")


@pytest.fixture(autouse=True)
def quiet(ann):
    deliver_all()


def create(url, **options):
    out = StringIO()
    call_command(CreateWebhook(), url, stdout=out, **options)
    return dict(line.split() for line in out.getvalue().splitlines())


def update(made, *words):
    out = StringIO()
    call_command("webhooks", "update", made["id"], *words, stdout=out)
    return dict(line.split() for line in out.getvalue().splitlines())


def clock_with(sleep):
    """The clock of the sender alone: others sleep as usual."""
    return SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=sleep)


def send_once(monkeypatch):
    """Until there are no more events, as one claim."""

    class Quiet(Exception):
        pass

    def end(seconds):
        raise Quiet

    monkeypatch.setattr(sender, "time", clock_with(end))
    execute("default", DUE)
    for claimed in claim_webhooks(10):
        try:
            send_claimed(claimed)
        except Quiet:
            continue
    execute("default", "UPDATE integrations_webhook SET claimed_until = now()")


def publish_delivered(account_id, count=1):
    posts = [publish(account_id) for _ in range(count)]
    deliver_all()
    return posts


def received(receiver, kind="post.created"):
    bodies = [orjson.loads(message.body) for message in receiver.received]
    return [body["data"]["post_id"] for body in bodies if body["type"] == kind]


def state_of(made):
    return WebhookState(Webhook.objects.get(pk=made["id"]).state)


def test_each_event_is_sent_in_its_order_and_signed(ann, receiver, monkeypatch):
    made = create(f"{receiver.url}/hook")
    posts = publish_delivered(ann, 3)
    send_once(monkeypatch)
    assert received(receiver) == posts
    message = receiver.received[0]
    headers = {name.lower(): value for name, value in message.headers.items()}
    event = Receiver(made["secret"]).verify(message.body, headers)
    assert event["data"]["post_id"] == posts[0]
    assert headers["webhook-id"] == event["id"]
    with pytest.raises(WebhookVerificationError):
        Receiver(made["secret"]).verify(message.body + b" ", headers)
    send_once(monkeypatch)
    assert len(received(receiver)) == 3


def test_only_the_types_that_it_wants(ann, receiver, monkeypatch):
    create(receiver.url, type=["post.deleted"])
    publish_delivered(ann)
    send_once(monkeypatch)
    assert receiver.received == []


def test_a_message_that_is_refused_is_sent_again_and_the_later_ones_wait(
    ann, receiver, monkeypatch
):
    made = create(receiver.url)
    first = publish_delivered(ann)
    receiver.status = 500
    send_once(monkeypatch)
    [second] = publish_delivered(ann)
    send_once(monkeypatch)
    assert received(receiver) == first * 2
    (shown,) = list_webhooks()
    assert (shown.failures, shown.state) == (2, "active")
    assert "status 500" in shown.error
    receiver.status = 200
    send_once(monkeypatch)
    assert received(receiver) == [*first, *first, *first, second]
    assert (list_webhooks()[0].failures, state_of(made)) == (0, WebhookState.ACTIVE)


def test_the_next_attempt_waits_longer_and_longer(ann, receiver, monkeypatch):
    create(receiver.url)
    publish_delivered(ann)
    receiver.status = 503
    waits = []
    for _ in range(3):
        send_once(monkeypatch)
        waits.append(fetch_one("default", WAIT)[0])
    assert waits == sorted(waits)
    assert waits[-1] > 20
    assert claim_webhooks(10) == []


WAIT = "SELECT extract(epoch FROM next_attempt_at - now())::float FROM integrations_webhook"


def test_it_is_parked_when_it_fails_for_days_and_goes_on_when_resumed(ann, receiver, monkeypatch):
    made = create(receiver.url)
    [post] = publish_delivered(ann)
    receiver.status = 500
    send_once(monkeypatch)
    execute("default", LATE)
    send_once(monkeypatch)
    assert state_of(made) is WebhookState.PARKED
    receiver.status = 200
    send_once(monkeypatch)
    assert received(receiver) == [post] * 2
    update(made, "--resume")
    send_once(monkeypatch)
    assert received(receiver) == [post] * 3


def test_a_receiver_that_is_gone_is_parked_at_once(ann, receiver, monkeypatch):
    made = create(receiver.url)
    publish_delivered(ann)
    receiver.status = 410
    send_once(monkeypatch)
    assert state_of(made) is WebhookState.PARKED


def test_a_receiver_that_hangs_delays_no_other_one(ann, receiver, monkeypatch):
    with push_service() as hanging:
        hanging.waits.clear()
        create(hanging.url)
        create(receiver.url)
        posts = publish_delivered(ann)
        monkeypatch.setattr(sender, "REQUEST_S", 0.5)
        send_webhooks("default")
        until(lambda: received(receiver) == posts)
        until(lambda: list_webhooks()[0].failures == 1)
        execute("default", "UPDATE integrations_webhook SET state = 1")
        until(lambda: not webhook_threads())
        hanging.waits.set()


def webhook_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("webhook-")]


def test_a_webhook_has_one_sender_and_a_dead_one_is_replaced(ann, receiver, monkeypatch):
    create(receiver.url)
    (old,) = claim_webhooks(10)
    assert claim_webhooks(10) == []
    execute("default", "UPDATE integrations_webhook SET claimed_until = now() - interval '1 s'")
    (new,) = claim_webhooks(10)
    assert new.token > old.token
    publish_delivered(ann)
    monkeypatch.setattr(sender, "time", clock_with(lambda seconds: pytest.fail("it goes on")))
    send_claimed(old)  # sends once more, and writes nothing
    assert fetch_one("default", "SELECT position FROM integrations_webhook")[0] != ""
    assert len(received(receiver)) == 1


@pytest.mark.parametrize("column", ["claimed_until", "next_attempt_at"])
def test_it_does_not_wait_until_a_clock_that_went_back_is_there_again(ann, receiver, column):
    create(receiver.url)
    assert len(claim_webhooks(1)) == 1
    execute("default", TAKE_BACK.format("claimed_until"))
    execute("default", TAKE_BACK.format(column))
    assert len(claim_webhooks(1)) == 1
    assert claim_webhooks(1) == []


def test_more_webhooks_than_threads_take_turns(ann, receiver, monkeypatch):
    with push_service() as other:
        other.status = 200
        for address in (receiver, other):
            create(address.url)
        posts = publish_delivered(ann)
        monkeypatch.setattr(sender, "STINT_S", 0.1)
        monkeypatch.setattr(sender, "QUIET_S", 0.01)
        sending = sender.SendingThreads(most=1)

        def both_received():
            sending.start_due()
            return received(receiver) == received(other) == posts

        until(both_received)
        execute("default", "UPDATE integrations_webhook SET state = 1")
        until(lambda: not webhook_threads())


def test_one_that_is_paused_while_it_sends_keeps_what_it_has_sent(ann, receiver, monkeypatch):
    made = create(receiver.url)
    [post] = publish_delivered(ann)
    (claimed,) = claim_webhooks(10)
    update(made, "--pause")
    send_claimed(claimed)
    update(made, "--resume")
    send_once(monkeypatch)
    assert received(receiver) == [post]


def test_one_that_is_resumed_while_it_sends_has_one_sender(ann, receiver):
    made = create(receiver.url)
    claim_webhooks(10)
    update(made, "--pause")
    update(made, "--resume")
    assert claim_webhooks(10) == []
    update(made, "--resume", "--after", "now")
    assert len(claim_webhooks(10)) == 1


def test_failures_count_although_events_that_it_does_not_want_are_passed(
    ann, receiver, monkeypatch
):
    create(receiver.url, type=["post.deleted"])
    receiver.status = 500
    [post] = publish_delivered(ann)
    assert Caller(ann).delete(f"/api/v1/statuses/{post}").status_code == 200
    deliver_all()
    send_once(monkeypatch)
    others = [each for each in make_accounts(8) if shard_of(each) != shard_of(ann)]
    for number in range(2, 5):
        for other in others:
            publish_delivered(other)
        send_once(monkeypatch)
        assert list_webhooks()[0].failures == number


def test_an_error_that_nobody_expects_is_shown_and_tried_again(ann, receiver, monkeypatch):
    made = create(receiver.url)
    [post] = publish_delivered(ann)

    def fail(position, limit):
        raise RuntimeError("a mistake")

    with monkeypatch.context() as failing:
        failing.setattr(sender, "read_events", fail)
        send_once(failing)
    (shown,) = list_webhooks()
    assert (shown.failures, shown.error) == (1, "a mistake")
    assert state_of(made) is WebhookState.ACTIVE
    send_once(monkeypatch)
    assert received(receiver) == [post]


def test_a_slow_read_of_the_feed_stops_nothing(ann, receiver, monkeypatch):
    create(receiver.url)
    publish_delivered(ann)
    slowly = sender.read_events

    def read_slowly(position, limit):
        page = slowly(position, limit)
        time.sleep(0.1)
        return page

    monkeypatch.setattr(sender, "read_events", read_slowly)
    monkeypatch.setattr(sender, "TURN_S", 0.05)
    (claimed,) = claim_webhooks(10)
    turn = sender.Turn(claimed)
    turn.send()
    assert turn.position != claimed.position


def test_how_far_behind_it_is_counts_what_a_transaction_keeps_back(ann, receiver, monkeypatch):
    create(receiver.url)
    with transaction.atomic(using=shard_of(ann)):
        execute(shard_of(ann), "SELECT pg_current_xact_id()")
        late = threading.Thread(target=lambda: (publish_delivered(ann), connections.close_all()))
        late.start()
        late.join()
        time.sleep(1)
        worker = threading.Thread(target=lambda: (send_once(monkeypatch), connections.close_all()))
        worker.start()
        worker.join()
    assert received(receiver) == []
    assert list_webhooks()[0].behind_s > 0.9


def test_a_new_secret_and_the_old_one_sign_for_a_day(ann, receiver, monkeypatch):
    made = create(receiver.url)
    new = update(made, "--new-secret")
    publish_delivered(ann)
    send_once(monkeypatch)
    message = receiver.received[0]
    headers = {name.lower(): value for name, value in message.headers.items()}
    for secret in (made["secret"], new["secret"]):
        Receiver(secret).verify(message.body, headers)
    execute("default", "UPDATE integrations_webhook SET old_until = now()")
    publish_delivered(ann)
    send_once(monkeypatch)
    later = receiver.received[-1]
    headers = {name.lower(): value for name, value in later.headers.items()}
    Receiver(new["secret"]).verify(later.body, headers)
    with pytest.raises(WebhookVerificationError):
        Receiver(made["secret"]).verify(later.body, headers)


def test_a_paused_one_sends_nothing_and_a_deleted_one_never_again(ann, receiver, monkeypatch):
    made = create(receiver.url)
    update(made, "--pause")
    [post] = publish_delivered(ann)
    send_once(monkeypatch)
    assert receiver.received == []
    update(made, "--resume")
    send_once(monkeypatch)
    assert received(receiver) == [post]
    update(made, "--delete")
    publish_delivered(ann)
    send_once(monkeypatch)
    assert received(receiver) == [post]
    with pytest.raises(CommandError, match="no webhook"):
        update(made, "--pause")


def test_what_a_receiver_lost_is_sent_again_by_time(ann, receiver, monkeypatch):
    made = create(receiver.url)
    publish_delivered(ann)
    since = datetime.now(UTC)
    lost = publish_delivered(ann, 2)
    send_once(monkeypatch)
    ids = [message.headers["webhook-id"] for message in receiver.received]
    receiver.received.clear()
    out = StringIO()
    call_command(RedeliverEvents(), made["id"], since=since, stdout=out, stderr=StringIO())
    assert received(receiver) == lost
    assert {message.headers["webhook-id"] for message in receiver.received} <= set(ids)
    assert "events sent" in out.getvalue()
    with pytest.raises(CommandError, match="before"):
        call_command(RedeliverEvents(), made["id"], since=since, until=since - timedelta(1))


def test_a_position_that_is_too_old_parks_it(ann, receiver, monkeypatch, settings):
    made = create(receiver.url)
    settings.CHANGE_REPLAY_DAYS = -2
    send_once(monkeypatch)
    assert state_of(made) is WebhookState.PARKED
    assert "no longer kept" in list_webhooks()[0].error
    settings.CHANGE_REPLAY_DAYS = 7
    update(made, "--resume", "--after", "now")
    send_once(monkeypatch)
    assert state_of(made) is WebhookState.ACTIVE


def test_a_secret_of_another_key_parks_it(ann, receiver, monkeypatch, settings):
    made = create(receiver.url)
    settings.SECRET_KEY = "another" * 10
    send_once(monkeypatch)
    assert state_of(made) is WebhookState.PARKED
    new = update(made, "--new-secret")
    update(made, "--resume")
    publish_delivered(ann)
    send_once(monkeypatch)
    [message] = receiver.received
    headers = {name.lower(): value for name, value in message.headers.items()}
    Receiver(new["secret"]).verify(message.body, headers)


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "https://10.0.0.1/x", "ftp://x", "https://x@example.org/", "x"]
)
def test_an_address_in_a_private_network_is_refused(url, world, settings):
    settings.PUSH_PRIVATE_ADDRESSES = False
    with pytest.raises(CommandError, match="address"):
        create(url)


def test_a_database_that_is_down_has_no_position_to_begin_with(receiver, monkeypatch):
    def fail(alias):
        raise OperationalError("down")

    monkeypatch.setattr(events, "position_now", fail)
    with pytest.raises(CommandError, match="down"):
        create(receiver.url)


def test_show_webhooks(receiver):
    create(receiver.url, type=["post.created"])
    out = StringIO()
    call_command("webhooks", "show", stdout=out)
    assert f"active  0 s behind  {receiver.url}  post.created" in out.getvalue()
    out = StringIO()
    call_command(ShowWebhooks(), json=True, stdout=out)
    assert orjson.loads(out.getvalue())["state"] == "active"
