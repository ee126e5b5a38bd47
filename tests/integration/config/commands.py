"""All management commands of the project, and how the tests run each of them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from django.core.management import BaseCommand

from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from lab.reference.commands import command_names, load_command

WHY = ("--reason", "a test")
KIND = ("--kind", "relations.edge_changed")
# What a job needs on its command line besides --shard and the like; {me} is one of the accounts.
WORDS: dict[str, Sequence[str]] = {
    "changes discard": (*KIND, *WHY),
    "changes park": (*KIND, *WHY),
    "changes pause": ("--kind", "posts.marked", *WHY),
    "caches purge": ("--family", "accounts.profile"),
    "rebuild timelines": ("--all",),
    "shards reconcile": ("--shard", "shard1", "--since", "2020-01-01"),
    "changes replay": ("--since", "2020-01-01"),
    "accounts reset-relations": ("--account", "{me}", "--yes"),
    "accounts restore": ("--account", "{me}", *WHY),
    "changes resume": ("--kind", "posts.marked"),
    "accounts suspend": ("--account", "{me}", *WHY),
    "changes unpark": KIND,
}
# Those make new things each time, or need files or servers of their own; their own tests run them.
MAKERS = {
    "moves abort", "shards add", "changes announce", "moves complete", "accounts create",
    "services create", "webhooks create",
    "demo_token", "issuers distrust", "accounts export", "follow_changes",
    "import accounts", "import follows", "import posts", "import reactions", "load_demo",
    "moves start", "moves rebalance", "webhooks redeliver", "moves resume", "issuers trust",
    "moves undo", "webhooks update",
}  # fmt: skip


class Found(NamedTuple):
    """A command of the project. `words`: how it is run, {me} filled in later."""

    name: str
    make: Callable[[], BaseCommand]
    words: Sequence[str]

    @property
    def flags(self) -> frozenset[JobFlag]:
        command = self.make()
        return frozenset(command.flags) if isinstance(command, JobCommand) else frozenset()


def list_commands() -> list[Found]:
    """Every command of our own packages, by name."""
    return [
        Found(name, partial(load_command, name), WORDS.get(name, ())) for name in command_names()
    ]


def list_jobs() -> list[Found]:
    """Those that work through rows and are run here."""
    return [
        found
        for found in list_commands()
        if isinstance(found.make(), JobCommand) and found.name not in MAKERS
    ]
