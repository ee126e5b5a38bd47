"""Loads a community in bulk: users first, then whole accounts.

load_demo and `python -m lab.graph` use it.

Users of loaded accounts. They are found by username and created if missing.

Access tokens of the demo's own application.

The operator of `make run`: a superuser with the public password of the demo community.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.contrib.auth.hashers import make_password

from accounts.actions.register_application import register_application
from accounts.actions.sign_up import sign_up
from accounts.actions.tokens import issue_token
from accounts.cache import refresh_profiles
from accounts.models import Application, User
from accounts.oauth import OUT_OF_BAND
from accounts.queries.users import find_account_id
from accounts.scopes import BROAD
from accounts.sql import CREATE_CLOSED_USERS, OPEN_USERS, USERS_BY_NAME
from accounts.types import NewApplication, NewUser
from infra.api.errors import ValidationFailed
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from infra.sharding.buckets import group_by_shard
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.demo.community import PASSWORD
from operations.demo.errors import (
    AlreadyLoading,
    DevelopmentOnly,
    GraphNameTaken,
    NoSuchAccount,
    UsernameTaken,
)
from operations.demo.graphs import STARTED_AT
from operations.demo.rows import Ids, write_accounts
from operations.demo.types import Community

T = TypeVar("T")
USERS_A_BATCH = 5_000


def ensure_users(community: Community) -> Generator[Batch, None, dict[int, int]]:
    """Creates a user for every node that lacks one. Returns account ids by node.

    New users cannot sign in until their accounts are complete (`set_password`).
    Raises: UsernameTaken. Safety: idempotent, because the username names the node. Cost: three
    statements per USERS_A_BATCH, one if all users exist.
    """
    ids: dict[int, int] = {}
    for nodes in in_batches(community.graph.nodes, USERS_A_BATCH):
        node_of = {community.naming.person(node).username: node for node in nodes}
        ids |= {node_of[username]: id_ for username, id_ in _ensure(node_of).items()}
        failpoint("demo.users_made")
        yield Batch(0, note=f"{len(ids):,} of {len(community.graph.nodes):,} users")
    return ids


def set_password(account_ids: Iterable[int], password: str) -> None:
    """Sets the password of the accounts that have none. One slow hash per USERS_A_BATCH."""
    for ids in in_batches(list(account_ids), USERS_A_BATCH):
        execute(GLOBAL_ALIAS, OPEN_USERS, (make_password(password), list(ids)))


def in_batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, `size` at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _ensure(usernames: Collection[str]) -> Mapping[str, int]:
    users = _find(usernames)
    missing = [username for username in usernames if username not in users]
    if missing:
        execute(GLOBAL_ALIAS, CREATE_CLOSED_USERS, (STARTED_AT, missing))
        users |= _find(missing)
    return users


def _find(usernames: Collection[str]) -> dict[str, int]:
    rows = fetch_all(GLOBAL_ALIAS, USERS_BY_NAME, (list(usernames),))
    for username, _, email in rows:
        # A person who signed up has an address. Loaded users have none.
        if email:
            raise UsernameTaken(username)
    return {username: id_ for username, id_, _ in rows}


APPLICATION = "Tideline demo"


def demo_token(username: str, now: datetime) -> str:
    """A new token with all scopes. The latest MAX_SESSIONS stay valid. Raises NoSuchAccount."""
    account_id = find_account_id(username)
    if account_id is None:
        raise NoSuchAccount(username)
    return issue_token(account_id, _application().pk, " ".join(BROAD), now).token


def _application() -> Application:
    application = Application.objects.filter(name=APPLICATION).order_by("pk").first()
    if application is not None:
        return application
    new = NewApplication(APPLICATION, OUT_OF_BAND, scopes=" ".join(BROAD), website="")
    return register_application(new)[0]


USERNAME = "operator"
EMAIL = "operator@demo.invalid"


def ensure_operator(now: datetime) -> str | None:
    """The username of the demo's operator, which is created if there is no superuser.

    None: the operator is another person, or a person has this name. Safety: may run at any time.
    """
    if not settings.DEVELOPMENT:
        raise DevelopmentOnly("the operator of make run")
    superusers = User.objects.filter(is_superuser=True)
    if superusers.filter(username=USERNAME, email=EMAIL).exists():
        return USERNAME
    if superusers.exists():
        return None
    try:
        sign_up(NewUser(USERNAME, EMAIL, PASSWORD, "Operator", is_superuser=True), now)
    except ValidationFailed:
        return None
    return USERNAME


JOB = "load_graph"
ACCOUNTS_A_BATCH = 2_000
# The session holds the lock, so a killed process leaves no lock behind.
LOCK = "SELECT pg_try_advisory_lock(hashtextextended('demo ' || %s, 0))"
UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('demo ' || %s, 0))"


@contextmanager
def loading_lock(name: str) -> Iterator[None]:
    """Keeps other processes from loading this graph. Raises AlreadyLoading."""
    if fetch_one(GLOBAL_ALIAS, LOCK, (name,)) != (True,):
        raise AlreadyLoading(name)
    try:
        yield
    finally:
        fetch_one(GLOBAL_ALIAS, UNLOCK, (name,))


def load_community(
    community: Community, password: str | None
) -> Generator[Batch, None, dict[int, int]]:
    """Creates the missing users and accounts in batches. Returns account ids by node.

    The caller holds `loading_lock`. Raises: GraphNameTaken, UsernameTaken.
    Safety: idempotent; after a kill, run it again.
    """
    done = _count_done(community)
    _save_position(community, done)
    ids = yield from ensure_users(community)
    for nodes in in_batches(community.graph.nodes[done:], ACCOUNTS_A_BATCH):
        _write_accounts(community, ids, nodes)
        done += len(nodes)
        _save_position(community, done)
        yield Batch(len(nodes), note=f"{done:,} of {len(community.graph.nodes):,} accounts")
    if password is not None:
        set_password(ids.values(), password)
    return ids


def _write_accounts(community: Community, ids: Ids, nodes: Sequence[int]) -> None:
    node_of = {ids[node]: node for node in nodes}
    for alias, account_ids in group_by_shard(node_of).items():
        write_accounts(alias, community, ids, [node_of[id_] for id_ in account_ids])
        failpoint("demo.shard_written")
    # A request before the commit may have cached "no such account". Refreshes all nodes, because an
    # earlier run may have been killed between its commit and this line.
    refresh_profiles(node_of)


def _count_done(community: Community) -> int:
    """The number of nodes, in order, that earlier runs loaded."""
    position = find_checkpoint(JOB, community.name)
    if position is None:
        return 0
    if position["signature"] != community.signature:
        raise GraphNameTaken(community.name)
    return int(position["accounts"])


def _save_position(community: Community, done: int) -> None:
    save_checkpoint(JOB, community.name, {"signature": community.signature, "accounts": done})
