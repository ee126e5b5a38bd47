"""What endpoints of services share."""

from infra.api.errors import ScopeMissing
from infra.api.request import ApiRequest


def refuse_accounts(request: ApiRequest) -> None:
    """Only a service's own token may go on, for no account. Raises: ScopeMissing."""
    if request.user.account_id is not None:
        raise ScopeMissing
