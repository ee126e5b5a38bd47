"""What distinguishes the runs of one job: the parts that they lock, and their options."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from infra.jobs.flags import JobFlag
from infra.jobs.types import Work


def list_lock_parts(work: Work, flags: Collection[JobFlag]) -> list[str]:
    """The parts that a run locks: one account, each of its databases, or the whole job.

    A run for one account does not lock the shard, so it need not wait for a long run on the shard.
    """
    if work.account_id is not None:
        return [f"account {work.account_id}"]
    return list(work.aliases) if JobFlag.SHARD in flags else [""]


def describe_options(
    options: Mapping[str, Any], defaults: Mapping[str, Any], names: Iterable[str]
) -> str:
    """The named options that are not at their default, as `name=value`, sorted by name."""
    given = [
        f"{name}={_shown(options[name])}"
        for name in sorted(names)
        if options[name] != defaults[name]
    ]
    return make_storable(" ".join(given))


def _shown(value: Any) -> str:
    return "yes" if value is True else str(value)


def make_storable(text: str) -> str:
    """Escapes NUL and single surrogates. PostgreSQL refuses both, and file names may have them."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
