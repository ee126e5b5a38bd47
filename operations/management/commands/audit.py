"""`manage.py audit WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Compares what is derived with what it is derived from, and can repair it."""
