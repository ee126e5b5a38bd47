"""Who looks at posts."""

from infra.api.request import ApiRequest


def viewer_of(request: ApiRequest) -> int | None:
    """The account that asks; None for anybody, also for an application of its own."""
    return request.user.account_id if request.user is not None else None
