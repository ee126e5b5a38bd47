"""What the threads of a drainer know about stores that are away, and about their return."""

import structlog

log = structlog.get_logger()


class Recoveries:
    """Counts the stores that came back. The threads of a drainer share it.

    A thread that sees a new count tries its waiting rows at once.
    """

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        """Not locked: threads only compare counts, and one new count is enough."""
        self.count += 1


class Outage:
    """One store as one thread sees it. Logs each outage once."""

    def __init__(self, store: str, recoveries: Recoveries) -> None:
        self._store, self._recoveries = store, recoveries
        self.is_away = False

    def begin(self, error: Exception) -> None:
        if not self.is_away:
            self.is_away = True
            log.warning("drainer.store_away", store=self._store, error=str(error))

    def end(self) -> None:
        if self.is_away:
            self.is_away = False
            log.info("drainer.store_back", store=self._store)
            self._recoveries.add()
