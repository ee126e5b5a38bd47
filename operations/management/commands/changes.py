"""`manage.py changes WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Shows, delivers, parks and pauses changes, and announces rows that others wrote."""
