"""A clock that stands still until a test moves it, or somebody sleeps."""


class Clock:
    """Seconds; begins at a whole minute."""

    def __init__(self) -> None:
        self.now = 1_000_000_020.0

    def __call__(self) -> float:
        return self.now


class StandInTime:
    """Takes the place of the module `time` where a test is about waiting: none is real."""

    def __init__(self, clock: Clock) -> None:
        self.monotonic = self._clock = clock

    def sleep(self, seconds: float) -> None:
        self._clock.now += seconds
