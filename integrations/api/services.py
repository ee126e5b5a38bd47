"""What endpoints of services share."""

from infra.api.errors import NotAllowed
from infra.api.request import ApiRequest


def refuse_accounts(request: ApiRequest) -> None:
    """Only a service's own token may go on, for no account. Raises: NotAllowed."""
    if request.user.account_id is not None:
        raise NotAllowed("Only a service may do this, with its own token and for no account")
