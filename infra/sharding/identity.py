"""Writes and reads the row that says which database this is. No code refuses a wrong one yet."""

from uuid import uuid4

from infra.sharding.models import DatabaseIdentity
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

INSERT = """
INSERT INTO sharding_databaseidentity (alias, installation, created_at) VALUES (%s, %s, now())
ON CONFLICT (id) DO NOTHING
"""


def find_identity(alias: str) -> DatabaseIdentity | None:
    """The identity of this database; None before migrate_shards. One query."""
    return DatabaseIdentity.objects.using(alias).first()


def create_identity(alias: str) -> None:
    """Writes the identity of a database that has none. Safety: idempotent. At most two queries.

    The default database chooses the installation's id. Shards copy it, so they come later.
    """
    default = find_identity(GLOBAL_ALIAS)
    if alias == GLOBAL_ALIAS:
        execute(alias, INSERT, (alias, uuid4()))
    elif default is not None:
        execute(alias, INSERT, (alias, default.installation))
