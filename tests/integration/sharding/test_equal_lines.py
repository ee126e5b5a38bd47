"""Functions of the database take lists whose lines are equal or contradict each other.

One call with several lines leaves what calls with one line each leave, one after the other. A new
function that takes a list fails here until it has a case, or a reason why it needs none.
"""

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
import pytest
from django.conf import settings
from django.db import transaction

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from notifications.types import NotificationKind
from posts.types import Kind
from relations.actions.mirror import KINDS, STATES
from tests.callers import Caller
from tests.pictures import picture, upload
from tests.rules.texts import ROOT, SOURCES
from tests.world import NOW, make_account

ANN, BOB = 8, 12  # on one shard
NOW_MS = int(NOW.timestamp()) * 1_000
# By function: its arguments and their types.
ARGUMENTS = """
SELECT p.proname, a.name, format_type(a.type, NULL)
FROM pg_proc AS p
CROSS JOIN unnest(p.proargtypes::oid[]) WITH ORDINALITY AS t (type, n)
CROSS JOIN LATERAL (SELECT p.proargnames[t.n] AS name, t.type) AS a
WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' ORDER BY 1, t.n
"""
# JSON that is one thing.
NO_LISTS = {"payload", "poll", "new_poll", "new_application"}


class Case(NamedTuple):
    """`line`: of each list, its element. `other`: what another line says instead. `fixed`: all
    other arguments. `left`: reads what the calls leave, without versions and times."""

    line: dict[str, object]
    other: dict[str, object]
    fixed: dict[str, object]
    left: str


COUNTS = "SELECT owner_id, subject, kind, value FROM counters_counter"
LATE = "SELECT owner_id, subject, kind, about, delta FROM counters_postponedmove"
CHANGE = {"lane": 0, "change": "nothing", "payload": "{}"}
MOVES = {"owners": ANN, "subjects": 7, "kinds": 4, "causes": BOB, "deltas": 2}
EDGE = {
    "followers": BOB, "followees": ANN, "attributes": 1, "revisions": 1, "sinces_ms": 5,
    "all_flags": 0,
}  # fmt: skip
ENDED = {"attributes": 0, "revisions": 2, "sinces_ms": 6}
COUNTED = {"states": STATES, "kinds": KINDS}
EDGES = f"""
SELECT 'edge', followee_id, follower_id, attribute, revision FROM relations_backwardedge
UNION ALL SELECT 'count', owner_id, subject, kind, value FROM ({COUNTS} WHERE value > 0) AS counted
"""
CASES = {
    "counters_move_all": Case(
        MOVES, {"deltas": 5}, {"hot_owners": [], "hot_subjects": []}, COUNTS
    ),
    "counters_move_all of a hot count": Case(
        MOVES, {"deltas": 5}, {"hot_owners": [ANN], "hot_subjects": [7]}, LATE
    ),
    "counters_move_each": Case(
        {"owners": ANN, "kinds": 3, "deltas": 2}, {"deltas": 5}, {}, COUNTS
    ),
    "counters_lock_each": Case({"owners": ANN}, {"owners": BOB}, {"counted": 1}, COUNTS),
    "counters_hold_each": Case({"owners": ANN}, {"owners": BOB}, {}, COUNTS),
    "accounts_lock_each": Case({"accounts": ANN}, {"accounts": BOB}, {}, COUNTS),
    "notifications_write": Case(
        {
            "owner_ids": ANN, "from_ids": BOB, "kinds": int(NotificationKind.FAVOURITE),
            "moments": 7, "authors": ANN, "times": NOW_MS, "revisions": 1, "are_on": True,
        },
        {"revisions": 3},
        {
            "crowd_kinds": [4], "most_an_hour": 9, "now_tick": NOW_MS, "hour_ago": 0, "day_ago": 0,
            "oldest_ms": 0,
        },
        "SELECT from_id, kind, post_moment, revision, is_on FROM notifications_notification",
    ),
    "posts_record_responses": Case(
        {
            "author_ids": ANN, "moments": 7, "kinds": int(Kind.FAVOURITE), "responder_ids": BOB,
            "reply_moments": 0, "times": 1, "revisions": 1, "are_on": True, "counted": 6,
            "fold_lanes": 0, "fold_payloads": "{}",
        },
        {"revisions": 2, "are_on": False},
        {"hot_owners": [], "hot_subjects": [], "fold_kind": "nothing"},
        "SELECT moment, responder_id, revision, is_on::int, coalesce(value, 0) FROM posts_response"
        " LEFT JOIN counters_counter ON owner_id = author_id AND subject = moment",
    ),
    "posts_import": Case(
        {
            "authors": ANN, "external_ids": "p-1", "seconds": 9, "texts": "yes",
            "are_sensitive": False, "spoiler_texts": "", "languages": "en", "kinds": 0,
            "about_authors": None, "about_moments": None, "visibilities": 0,
            "all_mentions": None, "all_tags": '["sea", "sea"]', "first_authors": None,
            "first_moments": None, "post_types": None, "customs": None,
        },
        {"texts": "no", "visibilities": 3},
        CHANGE,
        "SELECT author_id, moment, text, visibility, value FROM posts_post"
        " JOIN counters_counter AS c ON owner_id = author_id AND c.kind = 3",
    ),
    "relations_mirror": Case(
        EDGE, ENDED, {"cold": [ANN], "locks_accounts": False, **COUNTED, **CHANGE}, EDGES
    ),
    "relations_mirror_follows": Case(EDGE, ENDED, COUNTED, EDGES),
}  # fmt: skip
# Those that need no case here.
BECAUSE = {
    "images_attach": "parts of one post: below",
    "posts_attach": "parts of one post: below",
    "posts_edit_post": "parts of one post: below",
    "posts_publish": "parts of one post: below",
    "posts_terms": "reads the words of one post",
    "posts_texts": "reads the words of one post",
    "posts_vote": "parts of one vote: below",
    "relations_import_follows": "a file is cut before a pair that comes again: test_every_kind.py",
    "relations_judge_follows": "as relations_import_follows",
    "relations_write_edge": "the languages of one follow: below; its counts come from rules",
    "scheduled_posts_hold": "asks whether one of a set is there",
}
# Statements of the code that write over rows of a list. PostgreSQL refuses a row that comes twice.
STATEMENTS = {
    "infra/changes/lease.py: ACQUIRE": "a drainer names each lane once",
    "counters/actions/move_counts.py: MOVE": "moves are added up by count: test_moving_counts.py",
    "counters/actions/postpone.py: POSTPONE": "moves are added up by count and cause",
    "notifications/actions/note_imported.py: NOTE": "the newest of each owner is taken first",
    "posts/conversations/actions/update_conversations.py: ADD": "one row a thread: DISTINCT ON",
    "relations/lists/actions/members.py: INSERT": "reads the rows of a set of accounts",
}


def arguments() -> dict[str, dict[str, str]]:
    functions: dict[str, dict[str, str]] = {}
    for function, name, its_type in fetch_all(settings.SHARD_ALIASES[0], ARGUMENTS):
        functions.setdefault(function, {})[name] = its_type
    return functions


def is_list(name: str, its_type: str) -> bool:
    return its_type.endswith("[]") or (its_type == "jsonb" and name not in NO_LISTS)


def test_each_function_that_takes_a_list_has_a_case(world: None) -> None:
    taking = {
        function
        for function, types in arguments().items()
        if any(is_list(*one) for one in types.items())
    }
    assert taking == {name.split()[0] for name in CASES} | {*BECAUSE}


def test_each_statement_that_writes_over_a_list_has_a_reason() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {ast.unparse(node.targets[0])}"
        for path in SOURCES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and writes_over_a_list(ast.unparse(node.value))
    }
    assert found == {*STATEMENTS}


def writes_over_a_list(sql: str) -> bool:
    is_list = "unnest(" in sql or "ANY(" in sql
    return is_list and ("DO UPDATE" in sql or "MERGE INTO" in sql)


@pytest.mark.parametrize("order", ["aa", "ab", "ba", "abab"])
@pytest.mark.parametrize("name", CASES)
def test_one_call_leaves_what_several_leave(world: None, name: str, order: str) -> None:
    case = CASES[name]
    lines = [case.line if one == "a" else case.line | case.other for one in order]
    types = arguments()[name.split()[0]]
    together = left_by(name, case, types, [lines])
    assert together == left_by(name, case, types, [[line] for line in lines])


def left_by(
    name: str, case: Case, types: dict[str, str], calls: Sequence[Sequence[dict[str, object]]]
) -> list[tuple[Any, ...]]:
    alias = shard_of(ANN)
    with transaction.atomic(alias):
        for lines in calls:
            values = {key: [line[key] for line in lines] for key in case.line} | case.fixed
            given = ", ".join(f"{key} := %s::{types[key]}" for key in values)
            fetch_all(alias, f"SELECT * FROM {name.split()[0]}({given})", [*values.values()])
        left = sorted(fetch_all(alias, case.left))
        transaction.set_rollback(True, alias)
    return left


def test_parts_that_a_request_names_twice(world: None) -> None:
    """Once each, but for votes: those are refused."""
    me, bob = Caller(make_account("ann")), Caller(make_account("bob"))
    text = {"status": "#Sea #sea @bob @bob"}
    posted = me.post("/api/v1/statuses", text).json()
    edited = me.client.put(
        f"/api/v1/statuses/{posted['id']}", orjson.dumps(text), "application/json"
    ).json()
    for post in (posted, edited):
        assert [tag["name"] for tag in post["tags"]] == ["sea"]
        assert [mention["acct"] for mention in post["mentions"]] == ["bob"]
    image = me.client.post("/api/v2/media", {"file": upload(picture())}).json()["id"]
    shown = me.post("/api/v1/statuses", {"status": "look", "media_ids": [image, image]}).json()
    assert [one["id"] for one in shown["media_attachments"]] == [image]
    asked = {"options": ["a", "b"], "expires_in": 600, "multiple": True}
    poll = me.post("/api/v1/statuses", {"status": "which?", "poll": asked}).json()["poll"]
    voted = bob.post(f"/api/v1/polls/{poll['id']}/votes", {"choices": [0, 0]})
    assert voted.status_code == 422
    followed = bob.post(
        f"/api/v1/accounts/{posted['account']['id']}/follow", {"languages": ["en", "en"]}
    )
    assert followed.json()["languages"] == ["en"]
