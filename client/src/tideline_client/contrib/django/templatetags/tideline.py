"""`{% load tideline %}{% tideline_feed user %}`: a feed on a page of the product."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from tideline_client.contrib.django.feeds import load_feed
from tideline_client.contrib.django.safe_html import clean, web_address
from tideline_client.models import Quote

register = template.Library()


@register.inclusion_tag("tideline/feed.html")
def tideline_feed(user: Any, limit: int = 20, max_id: str | None = None) -> dict[str, Any]:
    """The user's home timeline. Override `tideline/feed.html` to draw it in your own way.

    Nothing for a visitor who has not signed in.
    """
    if not user.is_authenticated:
        return {"feed": None}
    return {"feed": load_feed(user, limit, max_id)}


@register.filter
def tideline_html(content: str) -> SafeString:
    """The text of a post as safe HTML."""
    return clean(content)


@register.filter
def tideline_address(url: str) -> str:
    """The address of a person or a post, if it is one of the web."""
    return web_address(url)


@register.filter
def tideline_quoted(quote: Quote | None) -> dict[str, Any] | None:
    """The quoted post, unless it cannot be shown or a filter of the user hides it."""
    quoted = quote.quoted_status if quote else None
    results = quoted.get("filtered") or () if quoted else ()
    is_hidden = any(result["filter"]["filter_action"] == "hide" for result in results)
    return None if is_hidden else quoted
