"""The audits and repairs on a world that has every kind of row.

What takes a list is tried with lines that are equal, and with lines that contradict each other.

Each line is written or refused on its own, and the same list again changes nothing.
"""

import json

import pytest
from django.conf import settings

from infra import clock
from infra.caching.purging import flush_redis
from infra.changes import deliver
from infra.importing.formats import TYPES
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from integrations.brought_lists.actions import do_brought_lines, start_file
from integrations.brought_lists.parse import COLUMNS
from integrations.brought_lists.types import BroughtKind, LineState
from lab.reference.commands import load_command
from notifications.types import NotificationKind
from posts.fragments.present import post_url
from relations.actions.follow import follow as follow_now
from tests.every_kind import assert_has_every_kind, make_every_kind
from tests.integration.importing.imports import account, everything, follow, post, run_import
from tests.integration.integrations.services import Service
from tests.integration.jobs.lost_rows import at_rest
from tests.integration.jobs.outcomes import Outcome
from tests.reconciling import assert_audits_find_nothing
from tests.truth import assert_drained_truth, counts, forward_edges, rows_of
from tests.world import drain_all, make_account, publish
from timelines.verbs import BackfillRecentPosts

__all__ = ["at_rest"]

pytestmark = pytest.mark.slow


# What is derived from rows of other shards, without its times, and what repairs it.
DERIVED = {
    "relations_backwardedge": ("audit edges", "follower_id, followee_id, attribute, flags"),
    "posts_response": ("audit responses", "author_id, moment, kind, responder_id, reply_moment"),
    "conversations_directpost": ("audit conversations", "owner_id, second, author_id"),
    "tags_taggedpost": ("audit tags", "tag_id, second, author_id, sequence"),
    "timelines_recentpost": ("audit recent-posts", "author_id, moment, shown_author, shown_moment"),
    "notifications_notification": (
        "audit notifications",
        "owner_id, from_id, kind, post_moment, post_author",
    ),
}
# The changes alone know of these, and no row.
UNTRACED = (
    NotificationKind.STATUS,
    NotificationKind.POLL,
    NotificationKind.QUOTED_UPDATE,
    NotificationKind.MODERATION_WARNING,
)
IS_ON = {
    "posts_response": "is_on",
    "relations_backwardedge": "attribute <> 0",
    # Of mentions only replies have a row with their owner; a revoked quote has ended.
    "notifications_notification": f"""
        is_on AND kind NOT IN ({", ".join(str(int(kind)) for kind in UNTRACED)})
        AND (kind NOT IN ({NotificationKind.MENTION:d}, {NotificationKind.QUOTE:d}) OR EXISTS (
            SELECT FROM posts_response AS one WHERE one.author_id = owner_id AND one.is_on
            AND one.responder_id = from_id AND one.reply_moment = post_moment))""",
}


@pytest.fixture
def every_kind(world, tmp_path, monkeypatch):
    assert Outcome(BackfillRecentPosts()).code == 0
    it = make_every_kind(tmp_path)
    # Audits leave out what may be under way.
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    return it


def test_audits_know_every_kind(every_kind):
    assert_has_every_kind()
    assert_drained_truth()
    assert_audits_find_nothing()


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("table", DERIVED)
def test_what_is_derived_is_there_again(every_kind, table):
    command, columns = DERIVED[table]
    sql = f"SELECT {columns} FROM {table} WHERE {IS_ON.get(table, 'true')}"
    before = sorted(rows_of(sql))
    assert before
    for alias in settings.SHARD_ALIASES:
        execute(alias, f"DELETE FROM {table}")
    flush_redis()
    found = Outcome(load_command(command), "--repair")
    assert found.code == 0, found.out
    drain_all()
    assert sorted(rows_of(sql)) == before


LEFT = "SELECT kind, error FROM changes_change"


def test_consumers_take_each_change_twice_in_one_list(world, tmp_path, monkeypatch):
    once = deliver._call_consumers

    def twice(alias, deliveries):
        return once(alias, [*deliveries, *reversed(deliveries)])

    monkeypatch.setattr(deliver, "_call_consumers", twice)
    make_every_kind(tmp_path)
    assert rows_of(LEFT) == []
    assert_drained_truth()
    assert_audits_find_nothing()


# Of each type of lines: two that have nothing in common, and what they need to be there.
LINES = {
    "account": (
        account("cyd", email="cyd@example.org", display_name="Cyd", note="hi"),
        account("dan", email="dan@example.org", created_at="2018-01-01T00:00:00Z", locked=True,
                bot=True, discoverable=False, fields=[{"name": "a", "value": "b"}]),
    ),
    "follow": (
        follow("ann", "bob", languages=["en"]),
        follow("bob", "ann", "2021-01-01T00:00:00Z", quiet=True, notify=True, reposts=False,
               ended=True),
    ),
    "post": (
        {**post(1, "ann"), "text": "", "repost_of": "p-0"},
        post(2, "bob", "2021-02-01T00:00:00Z", in_reply_to="p-3", text="yes", sensitive=True,
             spoiler_text="careful", language="en", visibility="unlisted", deleted=True),
    ),
    "reaction": (
        {"account": "u-ann", "post": "p-0", "reaction": "clap"},
        {"account": "u-bob", "post": "p-3", "reaction": "wow", "at": "2021-03-01T00:00:00Z"},
    ),
}  # fmt: skip
FIELDS = [(kind, field) for kind, record in TYPES.items() for field in record.__struct_fields__]


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_imports_take_lines_that_agree_in_all_but_one_field_or_in_one(world, tmp_path, kind, field):
    """So that each pair of lines is equal, or contradicts the other somewhere."""
    run_import("accounts", tmp_path, [account("ann"), account("bob")])
    run_import("posts", tmp_path, [post(0, "bob"), post(3, "bob")])
    line, other = LINES[kind]
    changed = {**line, field: other[field]} if field in other else line
    alike = {**other, field: line[field]} if field in line else other
    lines = [line, line, changed, alike, line]
    first = run_import(f"{kind}s", tmp_path, lines)
    drain_all()
    before = everything()
    again = run_import(f"{kind}s", tmp_path, lines)
    assert ", 0 changed" in again.out
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]
    assert everything() == before


@pytest.mark.parametrize("kind", BroughtKind)
def test_brought_files_take_lines_that_are_equal_or_contradict_each_other(world, kind):
    owner, ann, _ = make_account(), make_account("ann"), make_account("bob")
    yes, no = ["ann", "true", "true", "en"], ["ann", "false", "false", ""]
    lines = {
        BroughtKind.BOOKMARKS: [[post_url(publish(ann))]] * 3 + [["nowhere"]],
        BroughtKind.LISTS: [["ours", "ann"], ["ours", "ann"], ["theirs", "ann"], ["ours", "bob"]],
    }.get(kind, [yes, no, yes, ["nobody"], ["bob"], [str(owner)]])
    follow_now(owner, ann)
    states = []
    for _ in range(2):
        width = len(COLUMNS[kind])
        start_file(owner, kind, [json.dumps([*line, *[""] * width][:width]) for line in lines])
        for _ in range(2):
            do_brought_lines(shard_of(owner))
        drain_all()
        sql = "SELECT number, state, reason FROM integrations_broughtrow ORDER BY number"
        edges = {pair: edge[3:] for pair, edge in forward_edges().items()}
        states.append((rows_of(sql), edges, counts()))
    assert states[0] == states[1]
    assert LineState.PENDING not in {state for _, state, _ in states[0][0]}


def test_services_take_accounts_that_are_equal_or_contradict_each_other(world):
    service = Service("service:accounts")
    sent = [
        ("u1", "ann"),
        ("u1", "ann"),
        ("u1", "bob"),
        ("u2", "ann"),
        ("u2", "cyd"),
        ("u1", "ann"),
    ]
    accounts = [{"external_id": i, "username": name} for i, name in sent]
    answers = [service.put("/api/v1/services/accounts", {"accounts": accounts}) for _ in range(2)]
    assert answers[0].status_code == 200, answers[0].content
    first, again = ([one["status"] for one in answer.json()] for answer in answers)
    # Another name for the same id renames. A name of another account stays taken, a former one too.
    assert first == again == [200, 200, 200, 422, 200, 200]
    ids = {"external_ids": ["u1", "u1", "u2", "u9"]}
    known = service.post("/api/v1/services/external_ids", body=ids).json()
    assert [one["external_id"] for one in known] == ["u1", "u2"]
