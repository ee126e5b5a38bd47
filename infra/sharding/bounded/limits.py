"""Connections whose waits have limits, also while they connect.

The server's own statement_timeout does not help when the server itself hangs, and libpq waits at
least two seconds for a connection.
"""

import select
import time
from collections.abc import Generator
from typing import Any, ClassVar, Protocol, Self

import psycopg
from psycopg import capabilities
from psycopg.errors import Diagnostic, _WaitTimeout
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.waiting import Ready

from infra.sharding.errors import NotReplicated, RequestTooLong
from infra.telemetry.reached_branches import reached

# How often a wait that lasts long is looked at.
LOOK_EVERY_S = 0.05
# For the server to take the order to break a statement off, and again for its answer.
BREAK_OFF_S = 0.1


class Limit(Protocol):
    """What a class of connections waits for, and how long. Threads share it."""

    def check(self) -> None:
        """Raises OperationalError if a wait must not begin."""
        ...

    def first_look_s(self) -> float:
        """How long a wait lasts before the first `look`."""
        ...

    def look(self, waited_s: float) -> None:
        """Raises OperationalError if a wait must end; RequestTooLong if the server should be told
        to break the statement off."""
        ...


class LimitedConnection(psycopg.Connection[Any]):
    """A subclass names its `limit`.

    A wait that ends too early closes the connection: else the late answer would be read as the
    answer of the next statement. Cost of a short wait: one call of Python more.
    """

    limit: ClassVar[Limit]
    # By time.monotonic: the last wait that ended with what it waited for.
    answered_at: float = float("-inf")
    # Whether a commit was reported as done on this server alone.
    is_unreplicated: bool = False
    # Whether the server has said that it ends the session, after its last answer.
    is_over: bool = False

    def wait(
        self, gen: Generator[Any, Any, Any], interval: float = 0.1, timeout: float | None = None
    ) -> Any:
        """Raises: NotReplicated, and what the limit raises. `timeout` is for psycopg's own waits
        with a limit."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        self._check()
        first_s = self.limit.first_look_s()
        try:
            answer = super().wait(gen, interval, first_s)
        except _WaitTimeout:
            answer = self._wait_longer(gen, interval, time.monotonic() - first_s)
        self.answered_at = time.monotonic()
        if self.is_unreplicated:
            self.close()
            raise NotReplicated("the commit did not wait for its standby")
        return answer

    @property
    def has_ended(self) -> bool:
        """Whether the server has ended this session, which is idle. Cost: one system call.

        An idle session has nothing else to read but that its parameters changed. Then it is
        replaced too. To read on is no way to find out: the socket may close a moment after the
        message.
        """
        return self.closed or self.is_over or _is_readable(self.fileno())

    def _check(self) -> None:
        """Raises what the limit raises, and closes a connection in a transaction or pipeline.

        In a pipeline that was left open the next statement may be answered and never committed.
        Raises AdminShutdown in a transaction whose session is over: the statement is not sent.
        """
        status = self.pgconn.transaction_status
        if self.is_over and status == TransactionStatus.INTRANS:
            self.close()
            raise psycopg.errors.AdminShutdown("the server has ended the session")
        try:
            self.limit.check()
        except psycopg.OperationalError:
            if (
                status != TransactionStatus.IDLE
                or self.pgconn.pipeline_status != PipelineStatus.OFF
            ):
                self.close()
            raise

    def _wait_longer(self, gen: Generator[Any, Any, Any], interval: float, began_s: float) -> Any:
        """A generator of psycopg that was left waiting goes on where it was."""
        while True:
            try:
                self.limit.look(time.monotonic() - began_s)
            except RequestTooLong as too_long:
                return self._break_off(gen, interval, too_long)
            except psycopg.OperationalError:
                self.close()
                raise
            try:
                return super().wait(_go_on(gen), interval, LOOK_EVERY_S)
            except _WaitTimeout:
                continue

    def _break_off(
        self, gen: Generator[Any, Any, Any], interval: float, why: RequestTooLong
    ) -> Any:
        """Tells the server to end the statement, whose answer is then QueryCanceled: the session
        stays usable. The answer that was on its way is as good.

        Raises: `why` if the server does not do it at once; then the connection is closed.
        """
        if not self._is_told_to_break_off():
            self.close()
            raise why
        try:
            return super().wait(_go_on(gen), interval, BREAK_OFF_S)
        except _WaitTimeout:
            self.close()
            raise why from None

    def _is_told_to_break_off(self) -> bool:
        """The server has had the order when this returns, so it cannot meet the next statement."""
        if not capabilities.has_cancel_safe():
            # An older libpq would wait for a hung server without a limit.
            return False
        try:
            self.cancel_safe(timeout=BREAK_OFF_S)
        except psycopg.Error:
            return False
        return True

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> Generator[Any, Any, Self]:
        """psycopg resumes this generator every 100 ms, also when nothing arrived."""
        cls.limit.check()
        began_s, connecting = time.monotonic(), super()._connect_gen(conninfo)
        try:
            waiting = next(connecting)
            while True:
                ready = yield waiting
                waiting = connecting.send(ready)
                waited_s = time.monotonic() - began_s
                # A busy process may come late to what arrived in time.
                if not ready and waited_s > cls.limit.first_look_s():
                    cls.limit.look(waited_s)
        except StopIteration as end:
            connection: Self = end.value
            return connection


def note_unreplicated(connection: LimitedConnection, notice: Diagnostic) -> None:
    """For a notice of the server. The name of its function is the same in all languages.

    An operator or a failover may cancel a commit that waits for a standby. PostgreSQL then commits
    on this server alone, answers that it has committed, and warns.
    """
    if notice.source_function == "SyncRepWaitForLSN":
        reached("database.commit_unreplicated")
        connection.is_unreplicated = True


def _go_on(gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The rest of a generator of psycopg. A wait begins with `next`, which sends None: that is an
    error for one that is in the middle of sending a statement."""
    try:
        waiting = gen.send(Ready.NONE)
        while True:
            ready = yield waiting
            waiting = gen.send(ready)
    except StopIteration as end:
        return end.value


def _is_readable(descriptor: int) -> bool:
    """Whether the server has sent something, or has closed the connection."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
