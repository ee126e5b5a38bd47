"""Reads from the default database which accounts services may act for."""

from collections.abc import Iterable

import msgspec

from accounts.types import Restriction
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

READ = f"""
SELECT id, tenant, restriction_revision, is_staff OR is_superuser, NOT is_active,
    restrictions & {Restriction.FROZEN:d} <> 0
FROM accounts_user WHERE id = ANY(%s::bigint[])
"""  # noqa: S608


class ActorFacts(msgspec.Struct, frozen=True, array_like=True):
    """What decides whether a service may act for an account. `revision`: of its restrictions."""

    tenant: int
    revision: int
    is_staff: bool
    is_suspended: bool
    is_frozen: bool


def load_actors(account_ids: Iterable[int]) -> dict[int, ActorFacts]:
    """The facts of those that are users. One query."""
    rows = fetch_all(GLOBAL_ALIAS, READ, (list(account_ids),))
    return {row[0]: ActorFacts(*row[1:]) for row in rows}
