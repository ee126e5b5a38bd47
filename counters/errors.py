"""What can go wrong with counts."""


class KindCountedTwice(RuntimeError):
    """Two apps say what a kind counts: a recount by one would be drift to the other."""
