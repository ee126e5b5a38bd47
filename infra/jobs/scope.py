"""How runs of one job are told apart: by what they lock, and by what they were asked to do."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from infra.jobs.flags import JobFlag
from infra.jobs.types import Work


def list_lock_parts(work: Work, flags: Collection[JobFlag]) -> list[str]:
    """What the run locks: one account, each of its databases, or the job as a whole.

    A run on one account does not lock its shard: nobody waits hours to have one account mended.
    """
    if work.account_id is not None:
        return [f"account {work.account_id}"]
    return list(work.aliases) if JobFlag.SHARD in flags else [""]


def describe_options(
    options: Mapping[str, Any], defaults: Mapping[str, Any], names: Iterable[str]
) -> str:
    """Those of the named options that were given, as `name=value`, in one order."""
    given = [
        f"{name}={_shown(options[name])}"
        for name in sorted(names)
        if options[name] != defaults[name]
    ]
    return make_storable(" ".join(given))


def _shown(value: Any) -> str:
    return "yes" if value is True else str(value)


def make_storable(text: str) -> str:
    """PostgreSQL takes neither NUL nor half a surrogate pair, and file names may have them."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
