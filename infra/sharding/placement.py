"""Which databases have a model's table. The model declares it; the router and the guard read it."""

from enum import Enum

from django.conf import settings
from django.db.models import Model

from infra.sharding.added_shards import AddedShards

GLOBAL_ALIAS = "default"


class Placement(Enum):
    """GLOBAL: the default database. SHARDED: the owner's shard.

    EVERYWHERE: every database has the table, with rows of its own.
    REPLICATED: every shard has the rows of all owners; the default database has none.
    """

    GLOBAL = "global"
    SHARDED = "sharded"
    REPLICATED = "replicated"
    EVERYWHERE = "everywhere"


def placement_of(model: type[Model]) -> Placement:
    """The declared placement. Models of other packages are GLOBAL."""
    return getattr(model, "placement", Placement.GLOBAL)


def known_shards() -> list[str]:
    """The shards that this process knows, in order. `infra.sharding.shards` asks for others."""
    own = settings.SHARD_ALIASES
    return [*own, *(alias for alias in AddedShards.aliases if alias not in own)]


def is_known(alias: str) -> bool:
    """Whether the alias is the default database or a shard that this process knows."""
    return alias == GLOBAL_ALIAS or alias in known_shards()


def shard_behind(alias: str) -> str | None:
    """The shard of this replica; None if the alias is not a replica."""
    named = settings.REPLICA_ALIASES.items()
    return next((shard for shard, aliases in named if alias in aliases), None)


def is_allowed(placement: Placement, alias: str) -> bool:
    """Whether this database has tables of this placement."""
    if placement is Placement.EVERYWHERE:
        return True
    return (placement is Placement.GLOBAL) == (alias == GLOBAL_ALIAS)
