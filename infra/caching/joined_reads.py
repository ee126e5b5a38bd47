"""Neighbouring MGETs of a round trip, sent to a single server as one command.

The modules of a page ask in one round trip, each with an MGET of its own. Redis then looks up as
many keys in fewer commands.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from infra.caching.connection import Command

MGET = "MGET"


def join_reads(commands: Sequence[Command]) -> Sequence[Command]:
    """The same commands with MGETs that follow each other as one. Most often they are the same."""
    if not any(first[0] == MGET == second[0] for first, second in pairwise(commands)):
        return commands
    joined: list[Command] = []
    for command in commands:
        if command[0] == MGET and joined and joined[-1][0] == MGET:
            joined[-1] = (*joined[-1], *command[1:])
        else:
            joined.append(command)
    return joined


def divide_replies(commands: Sequence[Command], replies: Sequence[Any]) -> list[Any]:
    """The reply to each of the commands, from the replies to `join_reads` of them."""
    divided, remaining = list[Any](), iter(replies)
    values: Any = None
    used, before = 0, None
    for command in commands:
        if command[0] != MGET or before != MGET:
            values, used = next(remaining), 0
        before, size = command[0], len(command) - 1
        is_values = before == MGET and isinstance(values, list)
        divided.append(values[used : used + size] if is_values else values)
        used += size
    return divided
