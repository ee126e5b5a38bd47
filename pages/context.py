"""What every template may use."""

from django.conf import settings
from django.http import HttpRequest


def site_name(_request: HttpRequest) -> dict[str, str]:
    return {"site": settings.INSTANCE_TITLE}
