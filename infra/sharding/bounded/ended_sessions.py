"""Sessions that the server ends, and what their last statement has done.

A move and a shutdown end sessions, and the server itself those that are idle for long. A statement
may arrive at this very moment. It gets the code of the end for an answer, and has done nothing: a
session does not end within a commit, and a statement that is done is answered first.
"""

from typing import Any

import psycopg
from django.db.backends.postgresql.base import Cursor
from psycopg.errors import AdminShutdown, Diagnostic, IdleSessionTimeout
from psycopg.pq import DiagnosticField
from psycopg.pq.abc import PGresult

from infra.sharding.bounded.limits import LimitedConnection

CODES = {AdminShutdown.sqlstate, IdleSessionTimeout.sqlstate}


class EndedAfterAnswer(AdminShutdown):
    """The session ended after the statement was answered: it may have written."""


class EndNoticingCursor(Cursor):
    """For statements of the ORM. They are sent without a parameter, and so the server may write a
    slow one to its log between the commit and the end of the answer. There a session may end."""

    def _check_results(self, results: list[PGresult]) -> None:
        """Raises: EndedAfterAnswer, and as psycopg."""
        if len(results) > 1 and _code_of(results[-1]) in CODES:
            raise EndedAfterAnswer("the session ended after an answer")
        super()._check_results(results)  # type: ignore[misc]  # psycopg's own


def note_end(connection: LimitedConnection, notice: Diagnostic) -> None:
    """libpq takes the end of a session for a notice if it reads it with the answer before."""
    if notice.severity_nonlocalized == "FATAL":
        connection.is_over = True


def has_done_nothing(error: BaseException | None, is_pooled: bool) -> bool:
    """Whether the statement met the end of its session, and nothing is left of its transaction.

    A pool may say the same when the session in use goes on.
    """
    return not is_pooled and is_end(error) and not isinstance(error, EndedAfterAnswer)


def is_end(error: BaseException | None) -> bool:
    """Whether the server says that the session is over."""
    return getattr(error, "sqlstate", None) in CODES


def is_unclear(error: BaseException | None) -> bool:
    """Whether psycopg says of its own that a COMMIT has not one answer: the session ended after it.

    The server's own internal errors have a code.
    """
    return isinstance(error, psycopg.InternalError) and error.sqlstate is None


def _code_of(result: PGresult) -> str:
    code: Any = result.error_field(DiagnosticField.SQLSTATE)
    return code.decode() if code else ""
