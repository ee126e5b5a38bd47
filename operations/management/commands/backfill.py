"""`manage.py backfill WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Adds what is missing of what is derived, from what it is derived from."""
