"""`manage.py webhooks WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Creates, shows and changes webhooks, and sends events to one once more."""
