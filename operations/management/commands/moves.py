"""`manage.py moves WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Moves accounts from shard to shard, while people read and write."""
