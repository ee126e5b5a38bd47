"""`manage.py tenants WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Serves several products on one installation."""
