"""What a moderator reads when a decision is not taken: the refusal, or that a database is away."""

from infra.api.errors import TidelineError
from infra.changes.errors import UNREACHABLE
from infra.sharding.probe import error_line

REFUSED = (TidelineError, *UNREACHABLE)


def words_of(error: Exception) -> str:
    """`error`: one of REFUSED. A decision is one transaction, so nothing of it is done."""
    if isinstance(error, TidelineError):
        return str(error)
    return f"A database does not answer, so nothing is done. Try again later. {error_line(error)}"
