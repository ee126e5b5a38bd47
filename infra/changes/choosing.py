"""How people choose changes on a command line, and the walk over those they chose."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.core.management import CommandError

from infra.changes.failpoints import failpoint
from infra.changes.parking import Choice, WaitingChange
from infra.jobs.flags import WALK, Flag
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk

# An owner's changes may be on several databases, so --account would look at one too few.
FLAGS = WALK - {Flag.ACCOUNT}
# (alias, after id, how many, which)
ListChanges = Callable[[str, int, int, Choice], list[WaitingChange]]


def add_choice(parser: ArgumentParser) -> None:
    """Adds --kind, --owner, --id and --all."""
    parser.add_argument("--kind", help="only this kind, for example posts.created")
    parser.add_argument("--owner", type=int, metavar="ACCOUNT", help="only this owner's")
    parser.add_argument(
        "--id", type=int, action="append", metavar="N", help="this one of --shard; may be repeated"
    )
    parser.add_argument("--all", action="store_true", help="whatever kind and owner")


def choice_of(options: Mapping[str, Any]) -> Choice:
    """What the flags choose. Raises: CommandError, when nothing does or ids lack their database."""
    choice = Choice(options["kind"], options["owner"], options["id"])
    if options["all"] == (choice != Choice()):
        raise CommandError("--kind, --owner, --id or --all says which changes are meant")
    if choice.ids is not None and options["shard"] is None:
        raise CommandError("ids are counted by each database: --id needs --shard")
    return choice


def walk_changes(
    work: Work,
    choice: Choice,
    list_changes: ListChanges,
    act: Callable[[str, Sequence[int]], int],
) -> Iterator[Batch]:
    """Does something to the changes chosen, batch by batch, in id order; a line for each.

    `act(alias, ids)` returns how many it changed; in a dry run it is not called.
    """

    def read(alias: str, after: Key | None, count: int) -> list[Row]:
        return [*list_changes(alias, after[0] if after else 0, count, choice)]

    for alias, rows, position in walk(work, read):
        ids = [row[0] for row in rows]
        failpoint("parking.batch_chosen")
        changed = len(ids) if work.dry_run else act(alias, ids)
        failpoint("parking.batch_changed")
        lines = [f"{alias} {row}" for row in rows]
        yield Batch(len(ids), 0, alias, changed, position, lines)
