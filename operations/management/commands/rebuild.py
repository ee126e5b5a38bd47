"""`manage.py rebuild WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Makes what is derived equal to what it is derived from: adds, changes and removes."""
