"""Runs the commands that import, on lines that a test gives."""

import json

from accounts.identities.queries import load_account_ids
from accounts.verbs import ImportAccounts
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from posts.external.queries.posts import load_known_posts
from posts.verbs import ImportPosts, ImportReactions
from relations.verbs import ImportFollows
from tests.integration.jobs.outcomes import Outcome
from tests.truth import TABLES

COMMANDS = {
    "accounts": ImportAccounts,
    "follows": ImportFollows,
    "posts": ImportPosts,
    "reactions": ImportReactions,
}


def run_import(kind, tmp_path, records, *words):
    """The records as JSON lines; a text is a line as it is."""
    file = tmp_path / f"{kind}.jsonl"
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    file.write_text("".join(f"{line}\n" for line in lines))
    return run_on(kind, file, *words)


def run_on(kind, file, *words):
    return Outcome(COMMANDS[kind](), str(file), *words)


def account(name, **more):
    return {"id": f"u-{name}", "username": name, "created_at": "2019-03-01T10:00:00Z", **more}


def follow(follower, followee, since="2020-05-01T00:00:00Z", **more):
    dated = {"since": since} if since else {}
    return {"follower": f"u-{follower}", "followee": f"u-{followee}", **dated, **more}


def post(number, author, created_at="2021-01-01T00:00:00Z", **more):
    return {
        "id": f"p-{number}", "author": f"u-{author}", "text": f"text {number}",
        "created_at": created_at, **more,
    }  # fmt: skip


def ids_of(*names):
    known = load_account_ids([f"u-{name}" for name in names])
    return [known[f"u-{name}"] for name in names]


def post_id(number):
    return load_known_posts([f"p-{number}"])[f"p-{number}"].post_id


def everything():
    """All rows of the tables that people's data is in."""
    return {
        alias: {table: sorted(_rows(alias, table)) for table in TABLES}
        for alias in all_aliases()
        if alias != "default"
    }


def _rows(alias, table):
    return [row[0] for row in fetch_all(alias, f"SELECT {table}::text FROM {table}")]
