"""The manual of a command: the text of its class.

The first paragraph is its help. `manage.py COMMAND --help` ends with the others, and the reference
of commands shows them.
"""

import re
from inspect import cleandoc
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

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
