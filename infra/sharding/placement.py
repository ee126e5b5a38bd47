"""Where a model's rows live. Declared on the model, looked up by the router and the guard."""

from enum import Enum

from django.conf import settings
from django.db.models import Model

GLOBAL_ALIAS = "default"


class Placement(Enum):
    """GLOBAL: the default database. SHARDED: the owner's shard. EVERYWHERE: each has its own.

    REPLICATED: every shard has the rows of all owners; never the default database.
    """

    GLOBAL = "global"
    SHARDED = "sharded"
    REPLICATED = "replicated"
    EVERYWHERE = "everywhere"


def placement_of(model: type[Model]) -> Placement:
    """The declared placement; models of other packages are GLOBAL."""
    return getattr(model, "placement", Placement.GLOBAL)


def all_aliases() -> list[str]:
    """The default database first, then every shard in order."""
    return [GLOBAL_ALIAS, *settings.SHARD_ALIASES]


def shard_behind(alias: str) -> str | None:
    """The shard that this alias is the replica of; None: it is no replica."""
    return next((shard for shard, name in settings.REPLICA_ALIASES.items() if name == alias), None)


def is_allowed(placement: Placement, alias: str) -> bool:
    """Whether tables of this placement exist on this database."""
    if placement is Placement.EVERYWHERE:
        return True
    return (placement is Placement.GLOBAL) == (alias == GLOBAL_ALIAS)
