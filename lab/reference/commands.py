"""Commands: the manual of each, and its own flags."""

from argparse import SUPPRESS, Action, ArgumentParser
from functools import cache

from django.conf import settings
from django.core.management import BaseCommand, get_commands, load_command_class

from infra.jobs.flags import JobFlag
from infra.sharding.added_shards import AddedShards
from infra.sharding.map_copy import MapCopy
from infra.verbs import DocumentedCommand, VerbCommand, list_verbs
from lab.reference.notes import names_in_note
from lab.reference.tables import table
from lab.runner.child import CHECKOUT

PAGES = CHECKOUT / "docs/reference/commands"
# Django's own, and what jobs share (docs/reference/commands/index.md).
SHARED = {flag.value for flag in JobFlag} | {"json"}


def command_names() -> list[str]:
    """Those of this project, of one word or two."""
    first_words = [word for word, app in get_commands().items() if app in settings.OWN_APPS]
    names = []
    for word in sorted(first_words):
        is_verb = isinstance(load_command(word), VerbCommand)
        names += [f"{word} {what}" for what in list_verbs(word)] if is_verb else [word]
    return names


def load_command(name: str) -> DocumentedCommand:
    first_word, _, what = name.partition(" ")
    if what:
        return list_verbs(first_word)[what]()
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, DocumentedCommand), name
    return command


def command_sections(names: list[str]) -> str:
    return "\n\n".join(_section(name) for name in names)


def _section(name: str) -> str:
    command = load_command(name)
    parts = [f"## `{name}`", command.help, command.manual, _flags(command)]
    return "\n\n".join(part for part in parts if part)


def _flags(command: BaseCommand) -> str:
    """A row for each flag and argument that only this command has."""
    others = SHARED | _of_django()
    actions = [each for each in parser_of(command)._actions if each.dest not in others]
    rows = [f"| {_name(each)} | {_text(each)} |" for each in actions if each.help != SUPPRESS]
    return table("| argument | what it does |", rows) if rows else ""


def parser_of(command: BaseCommand) -> ArgumentParser:
    """Without a query: which shards were added changes the values of a flag only."""
    before, AddedShards.doubts = AddedShards.doubts, MapCopy.doubts
    try:
        return command.create_parser("manage.py", "")
    finally:
        AddedShards.doubts = before


@cache
def _of_django() -> set[str]:
    return {action.dest for action in BaseCommand().create_parser("", "")._actions}


def _name(action: Action) -> str:
    return f"`{action.option_strings[-1] if action.option_strings else action.dest}`"


def _text(action: Action) -> str:
    return str(action.help or "").replace("|", "\\|")


def pages_of_commands() -> dict[str, str]:
    """The file of the page that has the command, by its name."""
    names = {*command_names()}
    return {
        name: page.name
        for page in PAGES.glob("*.md")
        for name in names_in_note(page.read_text())
        if name in names
    }
