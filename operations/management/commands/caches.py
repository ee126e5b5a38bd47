"""`manage.py caches WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Deletes and loads entries of caches, and shows those that are read most."""
