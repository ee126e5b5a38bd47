"""A clock that stands still until a test moves it."""


class Clock:
    """Seconds; begins at a whole minute."""

    def __init__(self) -> None:
        self.now = 1_000_000_020.0

    def __call__(self) -> float:
        return self.now
