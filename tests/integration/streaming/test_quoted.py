"""Streams have quotes and polls as the page shows them, for each viewer."""

import json

from posts.actions.create_post import create_post
from posts.actions.revoke_quote import revoke_quote
from posts.types import Draft, NewPoll
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.callers import Caller
from tests.delivered import deliver_all
from tests.world import make_accounts, publish

FAR_S = 4_000_000_000


def home_of(account_id):
    return Caller(account_id).client.get("/api/v1/timelines/home").json()


def test_a_quote_and_its_revocation_are_heard(site, world):
    me, author, quoted_author = make_accounts(3)
    follow(me, author)
    original = publish(quoted_author, "original")
    deliver_all()
    client = site.listen(me)
    quoting = create_post(author, Draft("look", quoted=original))
    deliver_all()
    [heard] = client.hear("update")
    assert json.loads(heard.payload) == home_of(me)[0]
    assert json.loads(heard.payload)["quote"]["quoted_status"]["id"] == original.public
    revoke_quote(quoting, original)
    deliver_all()
    [_, heard] = client.hear("update", "status.update")
    assert json.loads(heard.payload)["quote"]["state"] == "revoked"


def test_the_viewer_does_not_see_a_muted_quoted_post(site, world):
    me, author, quoted_author = make_accounts(3)
    follow(me, author)
    mute(me, quoted_author)
    original = publish(quoted_author, "original")
    deliver_all()
    client = site.listen(me)
    create_post(author, Draft("look", quoted=original))
    deliver_all()
    [heard] = client.hear("update")
    assert json.loads(heard.payload)["quote"]["state"] == "muted_account"
    assert "original" not in heard.payload


def test_a_poll_is_heard(site, world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    client = site.listen(me)
    create_post(author, Draft("which?", poll=NewPoll(("tea", "milk"), False, False, FAR_S)))
    deliver_all()
    [heard] = client.hear("update")
    options = json.loads(heard.payload)["poll"]["options"]
    assert [option["title"] for option in options] == ["tea", "milk"]


def test_the_type_and_the_json_of_a_product_are_heard(site, world):
    me, author = make_accounts(2)
    follow(me, author)
    deliver_all()
    client = site.listen(me)
    custom = '{"quote":"\\"x\\"","minutes":40}'
    create_post(author, Draft("cooked", post_type="recipe.cooked", custom=custom))
    deliver_all()
    [heard] = client.hear("update")
    shown = json.loads(heard.payload)
    assert shown == home_of(me)[0]
    assert (shown["type"], shown["custom"]) == ("recipe.cooked", json.loads(custom))
