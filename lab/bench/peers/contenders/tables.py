"""Writes the same rows for all contenders: people, follows, posts."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

PEOPLE = """
INSERT INTO auth_user (id, username, password, first_name, last_name, email, is_superuser, is_staff,
    is_active, date_joined)
SELECT id, 'person' || id, '!', '', '', '', false, false, true, now() FROM unnest(%s::int[]) AS id
"""
FOLLOWS = """
INSERT INTO contenders_feedfollow (follower_id, followee_id)
SELECT * FROM unnest(%s::int[], %s::int[])
"""
POSTS = """
INSERT INTO contenders_feedpost (author_id, text, created_at)
SELECT author, %s, to_timestamp(second)
FROM unnest(%s::int[], %s::bigint[]) WITH ORDINALITY AS post(author, second, place) ORDER BY place
"""


def load(path: str) -> None:
    """Writes the file's rows to an empty database. Post ids are in order of time."""
    data: Mapping[str, Any] = json.loads(Path(path).read_text())
    call_command("migrate", verbosity=0)
    call_command("migrate", run_syncdb=True, verbosity=0)  # for our two tables without migrations
    with connection.cursor() as cursor:
        cursor.execute(PEOPLE, [data["people"]])
        cursor.execute(FOLLOWS, _columns(data["follows"]))
        cursor.execute(POSTS, [data["text"], *_columns(data["posts"])])
        cursor.execute("VACUUM ANALYZE")
    connection.close()


def at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def _columns(pairs: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*pairs, strict=True)]
