"""`manage.py accounts WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Creates, suspends, restores, exports and purges one account, or resets what it has."""
