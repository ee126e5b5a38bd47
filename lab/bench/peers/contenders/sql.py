"""The naive pull: one PostgreSQL that joins follows with posts at every read."""

from collections.abc import Sequence
from typing import Any

import psycopg
from django.conf import settings

from lab.bench.peers.contenders.tables import at

HOME = """
SELECT p.id, u.username, p.text, p.created_at
FROM contenders_feedfollow f
JOIN contenders_feedpost p ON p.author_id = f.followee_id
JOIN auth_user u ON u.id = p.author_id
WHERE f.follower_id = %s
ORDER BY p.id DESC LIMIT %s
"""
FOLLOW = "INSERT INTO contenders_feedfollow (follower_id, followee_id) SELECT unnest(%s::int[]), %s"
UNFOLLOW = "DELETE FROM contenders_feedfollow WHERE follower_id = ANY(%s) AND followee_id = %s"
POST = (
    "INSERT INTO contenders_feedpost (author_id, text, created_at) VALUES (%s, %s, %s) RETURNING id"
)


class SqlPull:
    """A write is one row, visible after its commit. It has no fan-out that could be killed."""

    def __init__(self) -> None:
        where = settings.DATABASES["default"]
        self._database = psycopg.connect(
            host=where["HOST"],
            dbname=where["NAME"],
            user=where["USER"],
            autocommit=True,
            # As in Django. A generic plan reads and sorts every post of a thousand followees. One
            # for this reader reads the newest posts until it has a page.
            prepare_threshold=None,
        )

    def prepare(self, readers: Sequence[int]) -> None:
        """Does nothing: all rows exist."""

    def home(self, reader: int, limit: int) -> list[dict[str, Any]]:
        rows = self._database.execute(HOME, (reader, limit)).fetchall()
        return [{"id": id_, "author": a, "text": t, "at": c} for id_, a, t, c in rows]

    def follow(self, readers: Sequence[int], author: int) -> None:
        self._database.execute(FOLLOW, (list(readers), author))

    def unfollow(self, readers: Sequence[int], author: int) -> None:
        self._database.execute(UNFOLLOW, (list(readers), author))

    def post(self, author: int, text: str, second: float) -> int:
        row = self._database.execute(POST, (author, text, at(second))).fetchone()
        return int(row[0])

    def delete(self, post: int) -> None:
        self._database.execute("DELETE FROM contenders_feedpost WHERE id = %s", (post,))

    def bytes_an_entry(self, readers: Sequence[int]) -> float:
        return 0
