"""`manage.py purge WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Deletes what is not used any more."""
