"""Commands of two words: `manage.py audit timelines`. Each app declares its own in `verbs`.

The manual of a command: the text of its class.

The first paragraph is its help. `manage.py COMMAND --help` ends with the others, and the reference
of commands shows them.
"""

import re
from argparse import REMAINDER
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import Any, ClassVar

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter
from django.utils.module_loading import module_has_submodule

LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)", re.DOTALL)


class ManualFormatter(DjangoHelpFormatter):
    """Leaves texts of several lines as they are: they have examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class DocumentedCommand(BaseCommand):
    """A command whose text says when it is for, what it costs, and what stopping it does.

    `name`: the words after `manage.py`; by default its module's. `manual`: in Markdown, with links
    from the page of the reference.
    """

    name: ClassVar[str] = ""
    manual: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = vars(cls).get("name") or cls.__module__.rpartition(".")[2]
        if cls.__doc__ and "help" not in vars(cls):
            text, _, cls.manual = cleandoc(cls.__doc__).partition("\n\n")
            cls.help = text.replace("\n", " ")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        options = {"epilog": without_links(self.manual), "formatter_class": ManualFormatter}
        return super().create_parser(prog_name, subcommand, **{**options, **kwargs})


def without_links(text: str) -> str:
    """For a terminal: what a link is on, without where it leads."""
    return LINK.sub(r"\1", text)


OF_DJANGO = ("verbosity", "traceback", "no_color", "force_color")


class VerbCommand(DocumentedCommand):
    """The first word: a subclass is the command of a module, and its text says what it does.

    The second word names the command that runs, with flags, help and exit codes of its own.
    """

    requires_system_checks = []  # the command that runs has its own

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        commands = list_verbs(self.name).items()
        width = max(len(what) for what, _ in commands)
        lines = [f"  {what:<{width}}  {each.help.partition('. ')[0]}" for what, each in commands]
        epilog = "\n".join([*lines, "", f"manage.py {self.name} WHAT --help says more of each."])
        return super().create_parser(prog_name, subcommand, epilog=epilog, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        whats = list_verbs(self.name)
        parser.add_argument("what", metavar="WHAT", choices=whats, help=", ".join(whats))
        parser.add_argument("words", nargs=REMAINDER, metavar="...", help="its own arguments")

    def run_from_argv(self, argv: list[str]) -> None:
        command = list_verbs(self.name).get(argv[2]) if len(argv) > 2 else None
        if command is None:
            super().run_from_argv(argv)
        else:
            command().run_from_argv([argv[0], command.name, *argv[3:]])

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command`, and for flags of Django before the second word."""
        command = list_verbs(self.name)[options["what"]]()
        given = {flag: options[flag] for flag in OF_DJANGO if options[flag] not in (False, 1)}
        out = {"stdout": self.stdout, "stderr": self.stderr}
        call_command(command, *options["words"], **out, **given)


@cache
def list_verbs(first_word: str) -> dict[str, type[DocumentedCommand]]:
    """The commands that begin with this word, by their second one, in its order."""
    _import_verbs()
    begin = f"{first_word} "
    named = {each.name: each for each in _below(DocumentedCommand) if each.name.startswith(begin)}
    return {name.removeprefix(begin): named[name] for name in sorted(named)}


def _import_verbs() -> None:
    for config in apps.get_app_configs():
        if module_has_submodule(config.module, "verbs"):
            package = import_module(f"{config.name}.verbs")
            for part in iter_modules(getattr(package, "__path__", ())):
                import_module(f"{package.__name__}.{part.name}")


def _below(parent: type[DocumentedCommand]) -> Iterator[type[DocumentedCommand]]:
    for child in parent.__subclasses__():
        yield child
        yield from _below(child)
