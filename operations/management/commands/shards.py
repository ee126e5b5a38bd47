"""`manage.py shards WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Shows and checks the databases, adds a shard, and repairs a restored one."""
