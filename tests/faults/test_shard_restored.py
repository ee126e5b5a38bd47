"""A shard is restored to its backup: what the others know comes back, and the rest is named.

Subscribers and webhooks of a server whose old data folder was put back get all events, or an error.

A shard of a world that has every kind of row is restored, and the others agree with it again.
"""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from types import SimpleNamespace

import msgspec
import pytest

from accounts.actions.sign_up import sign_up
from accounts.types import NewUser
from infra.changes.errors import PositionTooOld
from infra.changes.feed import OLDEST
from infra.sharding.buckets import shard_of
from infra.sharding.pulse import list_losses
from infra.sharding.sql import fetch_one
from integrations.positions import decode_position, encode_position
from integrations.queries.events import read_events, site_position_now
from integrations.types import SitePosition, WebhookState
from integrations.webhooks.rows import list_webhooks
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.types import DecisionKind, DecisionOrigin
from operations.verbs.shards import ReconcileShard
from posts.ids import PostId
from posts.queries.rows import read_posts
from tests.backups import BaseBackup, Dump, commands
from tests.callers import Caller, ids_of
from tests.every_kind import SHARDS, make_every_kind
from tests.integration.integrations.test_webhooks import (
    create,
    publish_delivered,
    received,
    send_once,
    state_of,
    update,
)
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.periodic import run_task
from tests.push_service import push_service
from tests.reconciling import act, assert_audits_find_nothing, make_on, write
from tests.truth import assert_drained_truth
from tests.world import drain_all, forget_memory, make_account, publish
from timelines.verbs import BackfillRecentPosts

LOST = "shard1"
WHY = DecisionOrigin(None, "spam")


def get(caller: Caller, path: str):
    answer = caller.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def world_before(services):
    """Ann and amy are on the shard that is lost; bob, cyd and dan are on others."""
    assert Outcome(BackfillRecentPosts()).code == 0
    people = {"ann": LOST, "amy": LOST, "bob": "shard0", "cyd": "shard2", "dan": "shard3"}
    ids = {name: make_on(alias) for name, alias in people.items()}
    it = SimpleNamespace(ids=SimpleNamespace(**ids))
    it.ann, it.amy, it.bob, it.cyd, it.dan = (Caller(one) for one in ids.values())
    it.old = write(it.bob, "old")
    it.liked = write(it.bob, "liked before")
    it.kept = write(it.ann, "kept")
    it.deleted = write(it.ann, "to be deleted #tea")
    it.answer = reply(it.ann, it.old, "to be deleted too")["id"]
    it.hidden = write(it.ann, "to be hidden")
    poll = {"options": ["a", "b"], "expires_in": 3_600}
    it.poll, it.own_poll = write(it.bob, "?", poll=poll), write(it.ann, "?", poll=poll)
    do(it.ann, "favourite", it.liked)
    act(it.ann, ids["dan"], "follow")
    act(it.cyd, ids["ann"], "follow")
    drain_all()
    return it


def write_what_will_be_lost(it):
    it.lost_answer = reply(it.ann, it.old, "lost answer")["id"]
    do(it.ann, "favourite", it.old)
    do(it.ann, "reblog", it.old)
    do(it.ann, "unfavourite", it.liked)
    act(it.ann, it.ids.bob, "follow")
    act(it.ann, it.ids.dan, "unfollow")
    act(it.ann, it.ids.cyd, "block")
    for post in (it.deleted, it.answer):
        assert it.ann.delete(f"{STATUSES}/{post}").status_code == 200
    it.lost = write(it.ann, "lost #tea")
    do(it.bob, "reblog", it.lost)
    bob_name = get(it.bob, "accounts/verify_credentials")["username"]
    it.message = write(it.ann, f"@{bob_name} psst", visibility="direct")
    vote(it.ann, it.poll)
    vote(it.bob, it.own_poll)
    lists = it.ann.post("/api/v1/lists", {"title": "lost list"}).json()
    members = {"account_ids": [str(it.ids.bob)]}
    assert it.ann.post(f"/api/v1/lists/{lists['id']}/accounts", members).status_code == 200
    new = NewUser("newcomer", "new@tide.example", "Tide 4 all people", "New")
    while shard_of(make_account() + 1) != LOST:
        pass
    it.new_id = sign_up(new, datetime.now(UTC))
    assert shard_of(it.new_id) == LOST
    it.newcomer = Caller(it.new_id)


def write_what_others_remember(it):
    act(it.bob, it.ids.amy, "follow")
    do(it.bob, "favourite", it.kept)
    ann_name = get(it.ann, "accounts/verify_credentials")["username"]
    it.mention = write(it.bob, f"@{ann_name} hello")
    decide_on_post(PostId.from_public(it.hidden), DecisionKind.HIDE, WHY)
    decide_on_account(it.ids.amy, DecisionKind.LIMIT, WHY, datetime.now(UTC))


def vote(caller: Caller, post: str) -> None:
    answer = caller.post(f"/api/v1/polls/{post}/votes", {"choices": [1]})
    assert answer.status_code == 200, answer.content


def reconcile_words(since: datetime) -> list[str]:
    """Those of the page, with another moment."""
    line = commands("manage.py").partition(" | ")[0]
    program, *command, words = line.split(maxsplit=3)
    assert (program, command) == ("manage.py", ["shards", "reconcile"])
    words = words.split()
    words[words.index("--since") + 1] = since.isoformat()
    return words


def test_a_base_backup_has_what_was_written_before_it(services):
    ann = make_on(LOST)
    kept = publish(ann, "kept")
    backup = BaseBackup(services.postgres[LOST])
    lost = publish(ann, "lost")
    backup.restore()
    assert [row.text for row in read_posts(LOST, [kept, lost])] == ["kept"]


def test_drill(world_before, services):
    it = world_before
    since = datetime.now(UTC)
    backup = Dump(services.postgres[LOST])
    run_task("take_pulse", [LOST])
    write_what_will_be_lost(it)
    write_what_others_remember(it)
    drain_all()
    backup.restore()
    run_task("take_pulse", [LOST])
    assert [*list_losses()] == [LOST]
    words = reconcile_words(since)
    assert Outcome(ReconcileShard(), *words, "--dry-run").code in (0, 1)
    done = Outcome(ReconcileShard(), *words)
    assert done.code == 0, done.out
    assert_all_is_told(it, done.out)
    assert list_losses() == {}
    drain_all()
    assert_drained_truth()
    assert_audits_find_nothing()
    assert_bob_sees_what_is(it)
    assert_ann_sees_what_is(it)
    again = Outcome(ReconcileShard(), *words)
    assert (again.code, "was lost" in again.out) == (0, False), again.out


def assert_all_is_told(it, told: str) -> None:
    ann, ids = f"account {it.ids.ann}: ", it.ids
    for line in (
        f"edge {ids.ann} → {ids.bob}: there is no forward edge, a follow was lost",
        f"edge {ids.ann} → {ids.cyd}: there is no forward edge, a block was lost",
        f"edge {ids.ann} → {ids.dan}: backward edge is ahead, an end was lost",
        f"favourite of {it.old} was lost",
        f"the end of its favourite of {it.liked} was lost",
        f"post {it.lost_answer}, a reply to {it.old}, was lost",
        f"a repost of {it.old}, was lost",
        f"post {it.lost} was lost",
        f"direct post {it.message} for {ids.bob} was lost",
        f"post {it.deleted} is back: its deletion was lost",
        f"post {it.answer} is back: its deletion was lost",
    ):
        assert f"{line}: repaired" in told, told
        assert all(one.startswith(ann) for one in told.splitlines() if line in one)
    assert f"account {it.new_id}: " in told or get(it.newcomer, "accounts/verify_credentials")
    assert "No other database knows" in told


def assert_bob_sees_what_is(it) -> None:
    ann, bob = str(it.ids.ann), str(it.ids.bob)
    post = see(it.bob, it.old)
    counted = [post[f"{name}_count"] for name in ("favourites", "reblogs", "replies")]
    assert counted == [1, 0, 0]
    assert ids_of(it.bob.get(f"{STATUSES}/{it.old}/favourited_by")) == [ann]
    assert ids_of(it.bob.get(f"{STATUSES}/{it.old}/reblogged_by")) == []
    assert get(it.bob, f"statuses/{it.old}/context")["descendants"] == []
    assert see(it.bob, it.liked)["favourites_count"] == 0
    told = [(one["type"], one["account"]["id"]) for one in get(it.bob, "notifications")]
    assert sorted(told) == [("favourite", ann), ("follow", ann)]
    assert ann in ids_of(it.bob.get(f"/api/v1/accounts/{bob}/followers"))
    assert get(it.bob, "conversations") == []
    assert ids_of(it.bob.get("/api/v1/timelines/tag/tea")) == []
    for gone in (it.deleted, it.answer, it.lost, it.hidden):
        assert it.bob.get(f"{STATUSES}/{gone}").status_code == 404
    assert ids_of(it.bob.get(f"/api/v1/accounts/{bob}/statuses?exclude_replies=1"))[0] == it.mention
    assert get(it.bob, f"accounts/{bob}")["statuses_count"] == 4
    assert it.cyd.get(f"/api/v1/accounts/{ann}/statuses").status_code in (200, 404)
    assert get(it.bob, f"polls/{it.poll}")["votes_count"] == 1


def assert_ann_sees_what_is(it) -> None:
    relations = get(
        it.ann, f"accounts/relationships?id[]={it.ids.bob}&id[]={it.ids.cyd}&id[]={it.ids.dan}"
    )
    states = [(one["following"], one["blocking"]) for one in relations]
    assert states == [(True, False), (False, True), (False, False)]
    assert get(it.cyd, f"accounts/relationships?id[]={it.ids.ann}")[0]["following"] is False
    own = ids_of(it.ann.get(f"/api/v1/accounts/{it.ids.ann}/statuses"))
    assert own == [it.own_poll, it.kept]
    assert see(it.ann, it.kept)["favourites_count"] == 1
    told = {(one["type"], one["account"]["id"]) for one in get(it.ann, "notifications")}
    assert told >= {("favourite", str(it.ids.bob)), ("mention", str(it.ids.bob))}
    assert get(it.amy, f"accounts/{it.ids.amy}")["followers_count"] == 1
    newcomer = get(it.newcomer, "accounts/verify_credentials")
    assert (newcomer["username"], newcomer["display_name"]) == ("newcomer", "New")


XMIN = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


def behind_a_row() -> str:
    position = site_position_now()
    page = read_events(SitePosition(dict.fromkeys(position.by_alias, OLDEST)), 1_000)
    return encode_position(page.position)


def now() -> str:
    return encode_position(site_position_now())


def now_of_old_code() -> str:
    """Timeline, transaction, no row, two times; no checksum."""
    us = int(datetime.now(UTC).timestamp() * 1_000_000)
    row = fetch_one(LOST, XMIN)
    assert row is not None
    numbers = {LOST: (1, row[0], 0, us, us)}
    return urlsafe_b64encode(msgspec.msgpack.encode(numbers)).decode().rstrip("=")


FORMS = [behind_a_row, now, now_of_old_code]


@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "with rows"])
@pytest.mark.parametrize("is_known", [True, False], ids=["before the backup", "after it"])
@pytest.mark.parametrize("form", FORMS)
def test_no_event_is_skipped(services, form, is_known, is_empty):
    ann = make_on(LOST)
    drain_all()
    if not is_empty:
        publish(ann, "kept")
        drain_all()
    kept = form() if is_known else ""
    backup = BaseBackup(services.postgres[LOST])
    for _ in range(20):
        publish(ann, "lost")
    drain_all()
    text = kept or form()
    backup.restore()
    forget_memory()
    posts = {publish(ann, "new").public for _ in range(30)}
    drain_all()
    try:
        told = read_on(text)
    except PositionTooOld:
        assert not is_known
        return
    assert posts <= told


@pytest.mark.parametrize("is_ahead", [False, True])
def test_no_webhook_skips_or_stops_in_silence(services, settings, monkeypatch, is_ahead):
    """One that has sent what the server lost is parked, with the reason, and can be resumed."""
    settings.PUSH_PRIVATE_ADDRESSES = True
    with push_service() as receiver:
        receiver.status = 200
        ann = make_on(LOST)
        publish_delivered(ann)
        made = create(receiver.url)
        send_once(monkeypatch)
        backup = BaseBackup(services.postgres[LOST])
        lost = publish_delivered(ann, 20)
        if is_ahead:
            send_once(monkeypatch)
            assert received(receiver) == lost
        backup.restore()
        forget_memory()
        receiver.received.clear()
        new = publish_delivered(ann, 30)
        send_once(monkeypatch)
        if is_ahead:
            assert received(receiver) == []
            [row] = list_webhooks()
            assert (row.state, "lost changes" in row.error) == ("parked", True)
            update(made, "--resume", "--after", "oldest")
            send_once(monkeypatch)
        assert [post for post in received(receiver) if post in new] == new
        assert state_of(made) is WebhookState.ACTIVE


def read_on(text: str) -> set[str]:
    position, told = decode_position(text), set[str]()
    for _ in range(50):
        page = read_events(position, 20)
        position = decode_position(encode_position(page.position))
        told |= {event.data.get("post_id", "") for event in page.events}
        if not page.has_more:
            break
    return told


@pytest.mark.parametrize("when", ["before all", "before the changes"])
@pytest.mark.parametrize("lost", SHARDS)
def test_a_restored_shard_is_reconciled(services, tmp_path, lost, when):
    assert Outcome(BackfillRecentPosts()).code == 0
    since, taken = datetime.now(UTC), []

    def back_up() -> None:
        taken.append(Dump(services.postgres[lost]))

    if when == "before all":
        back_up()
    make_every_kind(tmp_path, back_up)
    taken[0].restore()
    words = ("--since", since.isoformat(), "--shard", lost)
    done = Outcome(ReconcileShard(), *words)
    assert done.code == 0, done.out
    assert "was lost" in done.out
    drain_all()
    assert_drained_truth()
    assert_audits_find_nothing()
    again = Outcome(ReconcileShard(), *words)
    assert (again.code, "was lost" in again.out) == (0, False), again.out
