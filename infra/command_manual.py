"""The manual of a command: the text of its module, after the first line.

`manage.py help COMMAND` ends with it, and the reference of commands shows it.
"""

import re
import sys
from inspect import cleandoc
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)", re.DOTALL)


class ManualFormatter(DjangoHelpFormatter):
    """Leaves texts of several lines as they are: they have examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class DocumentedCommand(BaseCommand):
    """A command whose module says when it is for, what it costs, and what stopping it does."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        manual = without_links(manual_of(self))
        options = {"epilog": manual, "formatter_class": ManualFormatter, **kwargs}
        return super().create_parser(prog_name, subcommand, **options)


def manual_of(command: BaseCommand) -> str:
    """In Markdown, with links from the page of the reference; "": it has none."""
    module = sys.modules[type(command).__module__]
    return cleandoc(module.__doc__ or "").partition("\n")[2].strip()


def without_links(text: str) -> str:
    """For a terminal: what a link is on, without where it leads."""
    return LINK.sub(r"\1", text)
