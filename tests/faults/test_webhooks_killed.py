"""The process that sends webhooks is killed, and hangs: each event arrives, in its order."""

import json
import urllib.request

import orjson
import psycopg
import pytest

from tests.deployment import deployed
from tests.push_service import push_service
from tests.waiting import until

pytestmark = pytest.mark.slow
KILLS, POSTS_BETWEEN = 3, 15
# Another process would go on after half a minute.
CLAIM_ENDS = "UPDATE integrations_webhook SET claimed_until = now()"


@pytest.fixture
def receiver():
    with push_service() as service:
        service.status = 200
        yield service


def post(deployment, token, number):
    request = urllib.request.Request(
        f"{deployment.address}/api/v1/statuses",
        json.dumps({"status": f"number {number}"}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return orjson.loads(answer.read())["id"]


def received(receiver):
    events = [orjson.loads(message.body) for message in receiver.received]
    return [event["data"]["post_id"] for event in events if event["type"] == "post.created"]


def end_claim(deployment):
    with psycopg.connect(deployment.default_url) as connection:
        connection.execute(CLAIM_ENDS)


def test_each_event_arrives_in_its_order_whatever_happens_to_the_sender(receiver):
    with deployed({"DEVELOPMENT": "1", "PUSH_PRIVATE_ADDRESSES": "1"}) as deployment:
        (token,) = deployment.sign_up("ann")
        deployment.manage("webhooks", "create", receiver.url, "--type", "post.created")
        compensator, posts = deployment.processes["compensator"], []
        for kill in range(KILLS):
            posts += [post(deployment, token, number) for number in range(POSTS_BETWEEN)]
            until(lambda: received(receiver))
            compensator.kill()
            posts.append(post(deployment, token, kill))
            end_claim(deployment)
            compensator.begin()
        compensator.pause()  # its claim runs out while it hangs
        posts.append(post(deployment, token, KILLS))
        end_claim(deployment)
        compensator.resume()
        until(lambda: set(received(receiver)) >= set(posts))
    arrived = list(dict.fromkeys(received(receiver)))
    assert arrived == posts
    ids = {message.headers["webhook-id"] for message in receiver.received}
    assert len(ids) == len(posts)  # what came twice has the same id
