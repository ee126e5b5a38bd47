"""A world with every kind of row: each kind, flag and visibility, and every change that is written.

What audits, repairs and restores must hold for is tried on it. `assert_has_every_kind` compares it
with the enums and the registry: who adds a kind adds it here.
"""

import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from types import SimpleNamespace

from django.apps import apps

from accounts.actions.declare_object_kind import declare_object_kind
from accounts.actions.rename import rename_account
from accounts.identities.actions.provision_account import provision_account
from accounts.identities.types import WantedAccount, id_of_object
from accounts.types import ProfileEdit, Restriction, ServiceObject
from counters.kinds import DECLARED, CounterKind
from infra.changes.registry import follow_up_kinds, kinds
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from moderation.actions.decide_on_image import decide_on_image
from moderation.types import ACCOUNT_DECISIONS, DecisionKind
from moderation.verbs import PurgeAccounts
from notifications.types import NotificationKind
from posts.actions.declare_reaction import declare_reaction
from posts.actions.end_polls import end_polls
from posts.external.actions.import_posts import end_import
from posts.ids import PostId
from posts.scheduled.actions.publish_due import publish_due
from posts.types import Kind, QuotePolicy, ReplyPolicy, Visibility
from relations.actions.follow import follow
from relations.lists.types import RepliesPolicy
from relations.types import Attribute, EdgeFlag, FollowOptions, RelationKind
from tests.callers import Caller
from tests.integration.images.uploading import publish as publish_images
from tests.integration.images.uploading import sent
from tests.integration.importing.imports import account, ids_of, post, run_import
from tests.integration.importing.imports import follow as imported_follow
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import STATUSES, do
from tests.people import BECAUSE, decide, decide_on
from tests.reconciling import act, make_on, write
from tests.truth import rows_of
from tests.world import drain_all, make_account

# Of ann, bob and cyd.
SHARDS = ("shard1", "shard2", "shard3")
POLL = {"options": ["a", "b"], "expires_in": 300}
# What no write of this world makes: each with what would.
RARE_CHANGES = {
    "counters.repaired",  # a count that an audit or a recount found wrong
    "timelines.author_cooled",  # an author whom very many read, and who rests
    # Mails, which leave no row.
    "accounts.password_reset_asked",
    "accounts.email_change_asked",
    "accounts.email_changed",
}


def make_every_kind(folder, before_changes: Callable[[], None] = lambda: None) -> SimpleNamespace:
    """Three people on three shards and all that they can do, delivered. `folder`: for the files of
    imports. `before_changes`: is called when all is written, and nothing is edited or deleted yet.
    """
    ids = [make_on(alias) for alias in SHARDS]
    names = dict(zip(("ann", "bob", "cyd"), ids, strict=True))
    it = SimpleNamespace(ids=ids, **{name: Caller(one) for name, one in names.items()})
    it.ann_id, it.bob_id, it.cyd_id = ids
    _relate(it)
    drain_all()
    _post(it)
    _respond(it)
    drain_all()
    before_changes()
    _change(it)
    drain_all()
    _moderate(it)
    _import(folder)
    drain_all()
    return it


def _relate(it) -> None:
    act(it.bob, it.ann_id, "follow")
    follow(it.bob_id, it.ann_id, FollowOptions(notify=True, special=True, reposts=False))
    act(it.bob, it.ann_id, "endorse")
    act(it.cyd, it.ann_id, "follow")
    act(it.cyd, it.bob_id, "follow")
    act(it.ann, it.cyd_id, "block")
    act(it.ann, it.cyd_id, "unblock")
    act(it.ann, it.bob_id, "follow")
    shy = make_account()
    shy_caller = Caller(shy)
    assert shy_caller.client.patch(
        "/api/v1/accounts/update_credentials", {"locked": True}, "application/json"
    ).status_code == 200  # fmt: skip
    act(it.ann, shy, "follow")
    follow(it.bob_id, shy, FollowOptions(quiet=True))
    quiet, blocked = make_account(), make_account()
    follow(it.ann_id, quiet, FollowOptions(quiet=True))
    act(it.ann, blocked, "block")
    act(it.ann, quiet, "mute")
    rename_account(quiet, "quiet_one", datetime.now(UTC))
    act(it.cyd, _make_object(), "follow")
    assert it.ann.post(f"/api/v1/accounts/{quiet}/note", {"comment": "a friend"}).status_code == 200
    for policy in RepliesPolicy:
        made = it.bob.post("/api/v1/lists", {
            "title": policy.name, "replies_policy": policy.name.lower(), "exclusive": True,
        })  # fmt: skip
        members = {"account_ids": [str(it.ann_id)]}
        where = f"/api/v1/lists/{made.json()['id']}/accounts"
        assert it.bob.post(where, members).status_code == 200
    assert it.bob.post("/api/v1/tags/tea/follow").status_code == 200
    words = {"title": "no tea", "context": ["home"], "keywords_attributes": [{"keyword": "coffee"}]}
    assert it.ann.post("/api/v2/filters", words).status_code == 200


def _make_object() -> int:
    """A recipe of a service, which shares what mentions it."""
    declare_object_kind("recipe", {"en": "recipe"})
    owned = ServiceObject("recipe", "17", url="https://product.example/17", custom='{"a":1}')
    wanted = WantedAccount("soup", ProfileEdit("Lentil soup", service_object=owned))
    identity = id_of_object("recipe", "17")
    return provision_account(identity, wanted, datetime.now(UTC)).account.account_id


def _post(it) -> None:
    for visibility in Visibility:
        write(it.ann, f"{visibility.name} #tea", visibility=visibility.name.lower())
    for reply_policy in ReplyPolicy:
        write(it.ann, reply_policy.name, reply_approval_policy=reply_policy.public)
    for quote_policy in QuotePolicy:
        write(it.ann, quote_policy.name, quote_approval_policy=quote_policy.public)
    it.mention = write(it.bob, f"@{_name(it.ann)} hello")
    it.direct = write(it.bob, f"@{_name(it.ann)} psst", visibility="direct")
    it.original = write(it.ann, "the original", spoiler_text="careful", language="fr")
    write(it.ann, "40 minutes", custom={"minutes": 40})
    write(it.bob, "cooked @soup")
    it.poll = write(it.ann, "?", poll=POLL)
    it.open_poll = write(it.ann, "!", poll=POLL | {"expires_in": 86_400})
    it.image = sent(it.ann)
    it.pictured = publish_images(it.ann, [it.image])["id"]
    it.gone = write(it.ann, "goes with all that is about it")
    due = (datetime.now(UTC) + timedelta(minutes=10)).isoformat()
    for text in ("soon", "published"):
        assert it.cyd.post(STATUSES, {"status": text, "scheduled_at": due}).status_code == 200
        if text == "published":
            publish_due(shard_of(it.cyd_id), time.time_ns() // 1_000_000 + 700_000)


def _name(caller: Caller) -> str:
    return str(caller.get("/api/v1/accounts/verify_credentials").json()["username"])


def _respond(it) -> None:
    declare_reaction("clap", {"en": "claps"}, at_ms=0)
    for about in (it.original, it.gone):
        it.answer = write(it.bob, "so?", in_reply_to_id=about)
        write(it.bob, "psst", in_reply_to_id=about, visibility="private")
        do(it.bob, "reblog", about)
        for act_on in ("favourite", "bookmark", "react/clap"):
            do(it.bob, act_on, about)
        it.quote = write(it.bob, "look", quoted_status_id=about)
        write(it.bob, "look, friends", quoted_status_id=about, visibility="private")
    write(it.ann, "thread", in_reply_to_id=it.original)
    it.revoked = write(it.bob, "look again", quoted_status_id=it.original)
    do(it.ann, "pin", it.original)
    do(it.ann, "mute", it.mention)
    for poll in (it.poll, it.open_poll):
        assert it.bob.post(f"/api/v1/polls/{poll}/votes", {"choices": [1]}).status_code == 200


def _change(it) -> None:
    assert it.ann.put(f"{STATUSES}/{it.original}", {"status": "edited"}).status_code == 200
    assert it.ann.delete(f"{STATUSES}/{it.gone}").status_code == 200
    do(it.ann, f"quotes/{it.revoked}/revoke", it.original)
    policy = {"quote_approval_policy": "nobody"}
    assert it.ann.put(f"{STATUSES}/{it.original}/interaction_policy", policy).status_code == 200
    do(it.bob, "unfavourite", it.original)
    do(it.bob, "favourite", it.original)
    do(it.bob, "unreact/clap", it.original)
    do(it.bob, "react/clap", it.original)
    for alias in {shard_of(one) for one in it.ids}:
        end_polls(alias, time.time() + 600)


def _moderate(it) -> None:
    hidden, shown, deleted = (PostId.from_public(write(it.cyd, text)) for text in "hsd")
    for post_id in (hidden, shown):
        assert decide_on(post_id, DecisionKind.HIDE)
    assert decide_on(shown, DecisionKind.SHOW)
    assert decide_on(deleted, DecisionKind.DELETE)
    decide_on_image(it.ann_id, int(it.image["id"]), DecisionKind.HIDE, BECAUSE)
    for kind in ACCOUNT_DECISIONS:
        person = make_account()
        write(Caller(person), "before", quoted_status_id=it.quote)
        follow(person, it.ann_id)
        drain_all()
        if kind is DecisionKind.RESTORE:
            decide(person, DecisionKind.LIMIT)
        decide(person, kind)
        if kind is DecisionKind.SUSPEND:
            it.purged = person
    drain_all()
    words = ("--account", str(it.purged), "--yes")
    outcome = Outcome(PurgeAccounts(), *words)
    assert outcome.code == 0, outcome.out


def _import(folder) -> None:
    run_import("accounts", folder, [account("old"), account("friend")])
    run_import("follows", folder, [imported_follow("old", "friend")])
    repost = {**post(2, "friend", repost_of="p-1"), "text": ""}
    assert run_import("posts", folder, [post(1, "old"), repost]).code == 0
    end_import()
    assert len(ids_of("old", "friend")) == 2


# By enum: what says which of its kinds there are, and those that no row has.
STORED = {
    Kind: (
        "SELECT kind FROM posts_post UNION SELECT kind FROM posts_response UNION"
        " SELECT kind FROM posts_viewermark",
        {Kind.SELF_REPLY},
    ),
    Visibility: ("SELECT DISTINCT visibility FROM posts_post", set()),
    QuotePolicy: ("SELECT DISTINCT quote_policy FROM posts_post", set()),
    ReplyPolicy: ("SELECT DISTINCT reply_policy FROM posts_post", set()),
    NotificationKind: (
        # A declared reaction has its number.
        f"""SELECT DISTINCT CASE WHEN kind < {DECLARED.start} THEN kind
            ELSE {NotificationKind.REACTION:d} END FROM notifications_notification""",
        set(),
    ),
    CounterKind: ("SELECT DISTINCT kind FROM counters_counter", set()),
    Attribute: ("SELECT DISTINCT attribute FROM relations_forwardedge", set()),
    RelationKind: ("SELECT DISTINCT kind FROM relations_forwardedge", set()),
    RepliesPolicy: ("SELECT DISTINCT replies_policy FROM lists_accountlist", set()),
}
FLAGS = {
    EdgeFlag: ("SELECT flags FROM relations_backwardedge", {EdgeFlag.NOTHING}),
    Restriction: (
        "SELECT restrictions FROM accounts_account",
        {Restriction.NONE, Restriction.PURGING},  # while a purge runs
    ),
}
CHANGES = "SELECT kind FROM changes_delivered UNION SELECT kind FROM changes_change"


def assert_has_every_kind() -> None:
    """Raises AssertionError with the names of what the world lacks."""
    lacking: dict[str, Collection[object]] = {}
    for enum, (sql, unstored) in STORED.items():
        lacking[enum.__name__] = {*enum} - {enum(kind) for (kind,) in rows_of(sql)} - unstored
    for flags, (sql, unstored) in FLAGS.items():
        seen = reduce(or_, (flags(value) for (value,) in rows_of(sql)))
        lacking[flags.__name__] = {*flags} - {*seen} - unstored
    apps_here = {config.label for config in apps.get_app_configs()}
    emitted = {kind for kind in kinds() if kind.partition(".")[0] in apps_here}
    written = {kind for alias in all_aliases() for (kind,) in fetch_all(alias, CHANGES)}
    lacking["changes"] = emitted - written - {*follow_up_kinds()} - RARE_CHANGES
    lacking = {name: some for name, some in lacking.items() if some}
    assert not lacking, lacking
