"""`manage.py import WHAT`."""  # noqa: N999

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Writes accounts, posts and follows of another system."""
