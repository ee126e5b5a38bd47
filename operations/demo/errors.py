"""Errors in a graph or the demo. As CommandErrors they end a command with a sentence."""

from pathlib import Path

from django.core.management.base import CommandError


class GraphUnreadable(CommandError):
    """The file is not a graph in this format."""

    def __init__(self, path: Path, what: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {what}")


class GraphNameInvalid(CommandError):
    pass


class GraphNameTaken(CommandError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"the graph {name!r} was loaded from another file, or with another --limit or"
            " FOLLOW_CAP; give this one another --name"
        )


class UsernameTaken(CommandError):
    def __init__(self, username: str) -> None:
        super().__init__(f"@{username} belongs to a person who signed up; nothing was loaded")


class AlreadyLoading(CommandError):
    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is being loaded by another process")


class DevelopmentOnly(CommandError):
    def __init__(self, command: str) -> None:
        super().__init__(f"{command} needs DEVELOPMENT=1: the password of its accounts is public")


class NoSuchAccount(CommandError):
    def __init__(self, username: str) -> None:
        super().__init__(f"there is no account @{username}; load_demo makes the demo accounts")
