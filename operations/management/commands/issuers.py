"""`manage.py issuers WHAT`."""

from infra.verbs import VerbCommand


class Command(VerbCommand):
    """Trusts issuers of JWTs, and ends the trust."""
