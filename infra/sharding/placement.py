"""Which databases have a model's table. The model declares it; the router and the guard read it."""

from enum import Enum

from django.conf import settings
from django.db.models import Model

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


def all_aliases() -> list[str]:
    """The default database first, then every shard in order."""
    return [GLOBAL_ALIAS, *settings.SHARD_ALIASES]


def shard_behind(alias: str) -> str | None:
    """The shard of this replica; None if the alias is not a replica."""
    named = settings.REPLICA_ALIASES.items()
    return next((shard for shard, aliases in named if alias in aliases), None)


def is_allowed(placement: Placement, alias: str) -> bool:
    """Whether this database has tables of this placement."""
    if placement is Placement.EVERYWHERE:
        return True
    return (placement is Placement.GLOBAL) == (alias == GLOBAL_ALIAS)
