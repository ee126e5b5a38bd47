"""The language in which an account gets mails and messages."""

from accounts.models import User
from infra.languages import language_or_default


def find_language(account_id: int) -> str:
    """What the person chose, or the language of the site. One query of the default database."""
    chosen = User.objects.filter(pk=account_id).values_list("language", flat=True).first()
    return language_or_default(chosen or "")
