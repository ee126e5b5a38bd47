"""`manage.py services WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Creates applications of the operator."""
