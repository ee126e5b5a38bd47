"""All management commands of the project, and how the tests run each of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.conf import settings
from django.core.management import BaseCommand, get_commands, load_command_class

from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag

WHY = ("--reason", "a test")
KIND = ("--kind", "relations.edge_changed")
# What a job needs on its command line besides --shard and the like; {me} is one of the accounts.
WORDS: dict[str, Sequence[str]] = {
    "discard_changes": (*KIND, *WHY),
    "park_changes": (*KIND, *WHY),
    "pause_changes": ("--kind", "posts.marked", *WHY),
    "purge_caches": ("--family", "accounts.profile"),
    "rebuild_timelines": ("--all",),
    "reconcile_shard": ("--shard", "shard1", "--since", "2020-01-01"),
    "replay_changes": ("--since", "2020-01-01"),
    "reset_relations": ("--account", "{me}", "--yes"),
    "restore_account": ("--account", "{me}", *WHY),
    "resume_changes": ("--kind", "posts.marked"),
    "suspend_account": ("--account", "{me}", *WHY),
    "unpark_changes": KIND,
}
# Those make new things each time, or need files or servers of their own; their own tests run them.
MAKERS = {
    "abort_move", "add_shard", "announce_rows", "complete_move", "create_account", "create_service",
    "create_webhook",
    "demo_token", "distrust_issuer", "export_account", "follow_changes",
    "import_accounts", "import_follows", "import_posts", "load_demo", "load_graph", "move_buckets",
    "rebalance", "redeliver_events", "resume_move", "trust_issuer", "undo_move",
    "update_webhook",
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
    """Every command below our own packages, by name."""
    ours = {path.parent.name for path in settings.BASE_DIR.glob("*/__init__.py")}
    return [
        Found(name, lambda app=app, name=name: load_command_class(app, name), WORDS.get(name, ()))
        for name, app in sorted(get_commands().items())
        if app.partition(".")[0] in ours
    ]


def list_jobs() -> list[Found]:
    """Those that work through rows and are run here."""
    return [
        found
        for found in list_commands()
        if isinstance(found.make(), JobCommand) and found.name not in MAKERS
    ]
