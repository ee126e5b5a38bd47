"""Each table that is keyed by an enum has all its kinds, or all of one of its groups.

A new kind makes this fail until somebody says in which groups it is, and until all the tables of
these groups have it.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.rules.texts import ROOT, SOURCES

ENUMS = {"DeclaredKinds", "Enum", "IntEnum", "StrEnum", "IntFlag", "IntegerChoices", "TextChoices"}
# By enum: its groups, and the tables that have the kinds of each. All kinds are in some group. A
# table that is not named here has all kinds.
GROUPS = {
    "Kind": {
        "posts with a target": ({"REPLY", "REPOST"}, ["moderation/admin/page_context.py: _KINDS"]),
        "responses": (
            {"REPLY", "CLOSED_REPLY", "REPOST", "FAVOURITE", "QUOTE", "CLOSED_QUOTE"},
            [
                "notifications/queries/actor_sources.py: KIND_OF_RESPONSE",
                "posts/jobs/audit_recorded.py: WORDS",
            ],
        ),
        "built-in reactions": ({"FAVOURITE"}, ["posts/types.py: REACTIONS"]),
        "responses besides reactions": (
            {"REPLY", "CLOSED_REPLY", "REPOST", "QUOTE", "CLOSED_QUOTE"},
            ["posts/changes.py: _COUNTS"],
        ),
        "counted responses besides reactions": (
            {"REPLY", "REPOST", "QUOTE"},
            ["posts/actions/record_responses.py: COUNTED"],
        ),
        "with a closed form": (
            {"REPLY", "QUOTE"},
            ["posts/queries/responses.py: CLOSED_KINDS"],
        ),
        "marks that all may see": ({"FAVOURITE", "PIN"}, ["integrations/events.py: _MARKS"]),
        "no responses": ({"POST", "SELF_REPLY", "BOOKMARK", "THREAD_MUTE", "PIN"}, []),
    },
    "NotificationKind": {
        "follows": ({"FOLLOW", "FOLLOW_REQUEST"}, ["notifications/rules.py: ATTRIBUTES"]),
        "responses": ({"FAVOURITE", "REBLOG"}, ["notifications/types.py: RESPONSE_OF"]),
        "posts of others": ({"MENTION", "STATUS", "POLL", "QUOTE", "QUOTED_UPDATE"}, []),
        "decisions": ({"MODERATION_WARNING"}, []),
        # A row has the number of a declared one.
        "selected only": ({"REACTION"}, []),
    },
    "CounterKind": {
        "of follows": ({"FOLLOWERS", "FOLLOWING"}, ["operations/demo/rows.py: counts"]),
        "of a post": (
            {"REPLIES", "REPOSTS", "FAVOURITES", "QUOTES"},
            ["posts/queries/own_responses.py: _FIELDS"],
        ),
        "of a post, besides reactions": (
            {"REPLIES", "REPOSTS", "QUOTES"},
            ["posts/queries/own_responses.py: _RESPONSES"],
        ),
        "others of an account": (
            {
                "POSTS", "QUIET_FOLLOWERS", "QUIET_FOLLOWING", "BLOCKED", "SENT_REQUESTS",
                "FOLLOW_REQUESTS", "FILTERS", "VIEWER_MARKS", "NEWEST_POST_DAY",
            },
            [],
        ),
    },
    "DecisionKind": {
        "on accounts and posts": (
            {"WARN", "LIMIT", "FREEZE", "SUSPEND", "RESTORE", "PURGE", "HIDE", "SHOW", "DELETE"},
            ["moderation/admin/decisions.py: WORDS"],
        ),
        "on posts": ({"HIDE", "SHOW", "DELETE"}, ["moderation/admin/joint_preview.py: POST_AFTER"]),
        "strikes": (
            {"WARN", "LIMIT", "FREEZE", "SUSPEND", "HIDE", "DELETE"},
            ["moderation/api/present.py: ACTIONS"],
        ),
        "with a restriction": (
            {"WARN", "LIMIT", "FREEZE", "SUSPEND"},
            ["moderation/types.py: ADDED_RESTRICTIONS"],
        ),
        "on reports and appeals": ({"ASSIGN", "RESOLVE", "REOPEN", "ACCEPT", "REJECT"}, []),
    },
    "Purpose": {
        "profile": (
            {"AVATAR", "HEADER"},
            [
                "accounts/actions/update_profile.py: _COLUMNS",
                "accounts/images/codec/encode.py: _CUT",
            ],
        ),
        "post": ({"POST"}, []),
    },
    "LaneGroup": {
        "with lanes of their own": (
            {"ORDINARY", "BULK"}, ["infra/changes/lanes.py: counts"],
        ),
        "one lane": ({"FOLDED", "IMPORTED", "OUTSIDE", "WAITING"}, []),
    },
    "ReplyPolicy": {
        "by relation": ({"FOLLOWERS", "FOLLOWING"}, ["posts/rules.py: allowed"]),
        "others": ({"PUBLIC", "MENTIONED", "NOBODY"}, []),
    },
    "EdgeFlag": {
        "flags": (
            {"SPECIAL", "HIDES_REPOSTS", "NOTIFIES", "ENDORSED"}, ["relations/states.py: wanted"],
        ),
        "none": ({"NOTHING"}, []),
    },
    "Timeline": {
        "home": ({"HOME"}, ["timelines/catch_up/api/views.py: return"]),
        "others": ({"NOTIFICATIONS"}, []),
    },
}  # fmt: skip
GROUP_OF = {
    table: kinds
    for groups in GROUPS.values()
    for kinds, tables in groups.values()
    for table in tables
}


class KindTable(NamedTuple):
    where: str
    enum: str
    kinds: frozenset[str]


TREES = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in SOURCES}


def _is_enum(node: ast.AST) -> bool:
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    return bool({ast.unparse(base).rpartition(".")[2] for base in bases} & ENUMS)


def _kinds_of(node: ast.ClassDef) -> set[str]:
    targets = [one.targets for one in node.body if isinstance(one, ast.Assign)]
    return {ast.unparse(target) for some in targets for target in some}


KINDS = {
    node.name: _kinds_of(node)
    for tree in TREES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef) and _is_enum(node)
}


def _tables() -> Iterator[KindTable]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if name := _name_of(node):
                for one in ast.walk(node):
                    yield from _table_of(f"{path}: {name}", one)


def _name_of(node: ast.AST) -> str:
    """Of what a statement sets."""
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return "return" if isinstance(node, ast.Return) else ""


def _table_of(where: str, node: ast.AST) -> Iterator[KindTable]:
    keys = [ast.unparse(key) for key in node.keys if key] if isinstance(node, ast.Dict) else []
    enums = {key.partition(".")[0] for key in keys}
    if len(enums) == 1 and (enum := enums.pop()) in KINDS:
        yield KindTable(where, enum, frozenset(key.partition(".")[2] for key in keys))


TABLES = [*_tables()]


def test_tables_are_found() -> None:
    assert {*GROUP_OF} <= {table.where for table in TABLES}
    assert len(TABLES) > len(GROUP_OF) + 10


@pytest.mark.parametrize("enum", GROUPS)
def test_groups_have_all_kinds(enum: str) -> None:
    assert {kind for kinds, _ in GROUPS[enum].values() for kind in kinds} == KINDS[enum]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.where)
def test_table_lacks_no_kind(table: KindTable) -> None:
    assert table.kinds == GROUP_OF.get(table.where, KINDS[table.enum])
