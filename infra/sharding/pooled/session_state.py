"""Refuses statements that would change a session, on connections to a pool.

The pool gives the next transaction another session, and this one to another client. A parameter, a
lock or a statement's name would be there, and be missed here.
"""

import re
from collections.abc import Callable
from typing import Any

from infra.sharding.errors import SessionStateRefused

# Locks and parameters of a transaction end with it, so these are allowed.
COMMANDS = re.compile(
    r"\s*(SET(?!\s+(LOCAL|TRANSACTION|CONSTRAINTS)\b)|RESET|DISCARD|DEALLOCATE|EXECUTE|LOAD"
    r"|PREPARE(?!\s+TRANSACTION\b)|LISTEN|UNLISTEN)\b",
    re.IGNORECASE,
)
USES = re.compile(
    r"\b(pg_(try_)?advisory_(un)?lock(_shared|_all)?\s*\(|(currval|lastval)\s*\("
    r"|set_config\s*\([^;]*,\s*false\s*\)|WITH\s+HOLD\b|CREATE\s+(LOCAL\s+)?TEMP(ORARY)?\b)",
    re.IGNORECASE,
)


def needs_session(sql: str) -> bool:
    """Whether the statement sets or uses something that lasts longer than its transaction."""
    return bool(COMMANDS.match(sql) or USES.search(sql))


def refuse_session_state(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs the statement, or raises SessionStateRefused. Cost: two regular expressions."""
    if needs_session(sql):
        raise SessionStateRefused(f"{sql[:40]!r} on the pool of {context['connection'].alias!r}")
    return execute(sql, params, many, context)
