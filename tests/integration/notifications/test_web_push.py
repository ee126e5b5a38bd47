"""Web Push: subscriptions through HTTP, and messages that a device can read."""

import socket

import pytest

from accounts.actions.tokens import end_tokens_of_user
from accounts.actions.update_profile import choose_language
from infra.changes.models import Change
from infra.outgoing.addresses import ForbiddenAddress, is_endpoint, resolve
from infra.sharding.sql import execute
from notifications.push import actions
from notifications.push.models import PushSubscription
from tests.callers import Caller, assert_refused
from tests.dying import armed
from tests.integration.notifications.listing import V1, body, replay_everything
from tests.integration.posts.interacting import do, reply
from tests.push_service import Device, push_service
from tests.world import drain_all

PATH = "/api/v1/push/subscription"


@pytest.fixture
def service():
    with push_service() as service:
        yield service


@pytest.fixture
def device():
    return Device()


@pytest.fixture
def subscriber(people):
    """Ann, with a token that may subscribe."""
    return Caller(people[0], "read write follow push")


def subscribe(caller, service, device, wishes, **more):
    target = {"endpoint": f"{service.url}/box?x=1", "keys": device.keys()} | more
    return body(caller.post(PATH, {"subscription": target, "data": wishes}))


def test_messages_are_encrypted_for_the_device_and_say_what_happened(
    people, subscriber, you, them, original, service, device
):
    token = subscriber.client.defaults["HTTP_AUTHORIZATION"].split()[1]
    wishes = {"alerts": {"mention": True, "favourite": True}, "policy": "all"}
    made = subscribe(subscriber, service, device, wishes, standard=True)
    assert (made["standard"], made["policy"], made["alerts"]["poll"]) == (True, "all", False)
    assert (
        made["server_key"]
        == body(subscriber.get("/api/v2/instance"))["configuration"]["vapid"]["public_key"]
    )
    assert body(subscriber.get(PATH)) == made
    assert_refused(you.get(PATH), 403)
    do(you, "favourite", original)
    do(you, "reblog", original)  # not wanted
    reply(them, original, "a <b> & c")
    drain_all()
    told = {one["type"]: one["id"] for one in body(subscriber.get(V1))}
    messages = {one["notification_type"]: one for one in map(device.read, service.received)}
    assert {kind: one["notification_id"] for kind, one in messages.items()} == {
        kind: told[kind] for kind in ("mention", "favourite")
    }
    assert messages["mention"]["access_token"] == token
    assert messages["mention"]["body"] == "a <b> & c"
    assert service.received[0].path == "/box?x=1"
    replay_everything()
    assert len(service.received) == 2, "a replay pushes nothing again"


def test_a_message_is_in_the_language_of_its_receiver(
    people, subscriber, you, original, service, device
):
    choose_language(people[0], "de")
    subscribe(subscriber, service, device, {"alerts": {"favourite": True}})
    do(you, "favourite", original)
    drain_all()
    message = device.read(service.received[0])
    assert message["preferred_locale"] == "de"
    assert message["title"].endswith(" hat deinen Beitrag favorisiert")
    assert message["body"]


def test_a_drain_that_dies_after_the_rows_still_pushes_once(
    people, subscriber, you, original, service, device, settings
):
    def die() -> None:
        raise OSError("killed")

    subscribe(subscriber, service, device, {"alerts": {"favourite": True}})
    do(you, "favourite", original)
    with armed("notifications.recorded", die):
        drain_all()
    assert not service.received
    for _ in range(2):
        for alias in settings.SHARD_ALIASES:
            execute(alias, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
        drain_all()
        replay_everything()
    assert len(service.received) == 1


def test_older_clients_read_the_draft_and_choose_by_account(
    people, subscriber, you, them, service, device, original
):
    subscribe(subscriber, service, device, {"alerts": {"favourite": True}, "policy": "followed"})
    body(subscriber.post(f"/api/v1/accounts/{people[2]}/follow"))
    do(you, "favourite", original)
    do(them, "favourite", original)
    drain_all()
    [one] = service.received
    assert device.read(one)["title"].endswith("favourited your post")
    changed = body(subscriber.client.put(PATH, {"data": {"alerts": {}}}, "application/json"))
    assert not any(changed["alerts"].values())
    form = {"data[alerts][follow]": "true", "data[policy]": "none"}
    changed = body(subscriber.client.put(PATH, "&".join(f"{k}={v}" for k, v in form.items()), FORM))
    assert (changed["alerts"]["follow"], changed["policy"]) == (True, "none")
    assert body(subscriber.delete(PATH)) == {}
    assert_refused(subscriber.get(PATH), 404)


FORM = "application/x-www-form-urlencoded"


def test_subscriptions_end_with_their_receiver_and_their_token(
    people, subscriber, you, them, original, service, device
):
    subscribe(subscriber, service, device, {"alerts": {"favourite": True}})
    service.status = 302
    do(you, "favourite", original)
    drain_all()
    assert len(service.received) == 1, "no redirect is followed"
    service.status = 410
    do(them, "favourite", original)
    drain_all()
    assert not PushSubscription.objects.of(people[0]).exists()
    subscribe(subscriber, service, device, {"alerts": {"reblog": True}})
    end_tokens_of_user(people[0])
    do(you, "reblog", original)
    drain_all()
    assert len(service.received) == 2
    assert not PushSubscription.objects.of(people[0]).exists()


def test_a_slow_service_delays_nothing_else(
    people, subscriber, you, original, service, device, monkeypatch
):
    monkeypatch.setattr(actions, "REQUEST_S", 0.2)
    subscribe(subscriber, service, device, {"alerts": {"favourite": True}})
    service.waits.clear()
    do(you, "favourite", original)
    drain_all()
    assert len(service.received) == 1
    assert not any(Change.objects.on(f"shard{n}").exists() for n in range(4)), "it is given up"


def test_what_is_no_subscription_is_refused(subscriber, device):
    for sent in [
        {"endpoint": "ftp://push.example/x"},
        {"endpoint": "https://user@push.example/x"},
        {"endpoint": "https://push.example/ x"},
        {"endpoint": ""},
        {"keys": {"p256dh": "AAAA", "auth": "AAAA"}},
        {"keys": "nothing"},
    ]:
        target = {"endpoint": "https://push.example/x", "keys": device.keys()} | sent
        assert_refused(subscriber.post(PATH, {"subscription": target}), 422)


INSIDE = (
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "0.0.0.0",
    "64:ff9b::808:808",
    "fe80::1%eth0",
)


@pytest.mark.parametrize("ip", INSIDE)
def test_no_message_goes_into_our_own_network(settings, monkeypatch, ip):
    settings.PUSH_PRIVATE_ADDRESSES = False
    found = [(0, 0, 0, "", ("8.8.8.8", 443)), (0, 0, 0, "", (ip, 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(ForbiddenAddress):
        resolve("https://push.example/x")
    assert not is_endpoint("http://push.example/x")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found[:1])
    assert resolve("https://push.example/x").ip == "8.8.8.8"
