"""Users of loaded accounts: found by their username, made where missing."""

from collections.abc import Collection, Generator, Iterable, Mapping

from django.contrib.auth.hashers import make_password

from demo.errors import UsernameTaken
from demo.graphs import STARTED_AT
from demo.turns import pieces
from demo.types import Community
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all

USERS_A_BATCH = 5_000

FIND = "SELECT username, id, email FROM accounts_user WHERE username = ANY(%s::text[])"
# '!' is no password's hash: nobody logs in to an account before it is whole (set_password).
CREATE = """
INSERT INTO accounts_user
    (username, password, email, is_superuser, is_staff, is_active, date_joined)
SELECT username, '!', '', false, false, true, %s FROM unnest(%s::text[]) AS new (username)
ON CONFLICT (username) DO NOTHING
"""
OPEN_ACCOUNTS = """
UPDATE accounts_user SET password = %s WHERE id = ANY(%s::bigint[]) AND password = '!'
"""


def ensure_users(community: Community) -> Generator[Batch, None, dict[int, int]]:
    """Every node has a user; returns account id by node.

    Raises: UsernameTaken. Safety: idempotent; the username says which node it is. Cost: three
    statements per USERS_A_BATCH, one when all are there.
    """
    ids: dict[int, int] = {}
    for nodes in pieces(community.graph.nodes, USERS_A_BATCH):
        node_of = {community.naming.person(node).username: node for node in nodes}
        ids |= {node_of[username]: id_ for username, id_ in _ensure(node_of).items()}
        failpoint("demo.users_made")
        yield Batch(0, note=f"{len(ids):,} of {len(community.graph.nodes):,} users")
    return ids


def set_password(account_ids: Iterable[int], password: str) -> None:
    """Lets people log in to those accounts that have no password yet. One hash for all of them."""
    for ids in pieces(list(account_ids), USERS_A_BATCH):
        execute(GLOBAL_ALIAS, OPEN_ACCOUNTS, (make_password(password), list(ids)))


def _ensure(usernames: Collection[str]) -> Mapping[str, int]:
    found = _find(usernames)
    missing = [username for username in usernames if username not in found]
    if missing:
        execute(GLOBAL_ALIAS, CREATE, (STARTED_AT, missing))
        found |= _find(missing)
    return found


def _find(usernames: Collection[str]) -> dict[str, int]:
    rows = fetch_all(GLOBAL_ALIAS, FIND, (list(usernames),))
    for username, _, email in rows:
        # Whoever signs up gives an address; ours have none.
        if email:
            raise UsernameTaken(username)
    return {username: id_ for username, id_, _ in rows}
