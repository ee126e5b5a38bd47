"""How a campaign looks to people, for the admin: the label, whose it is, and its text."""

from html import unescape
from typing import Any

import orjson
from django.conf import settings
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString

from accounts.queries.load import load_account_json
from posts.ids import PostId
from posts.reading.statuses import load_status_json
from timelines.promotions.models import Campaign

_CARD = (
    '<div class="promo"><p><strong>Promoted</strong></p><p class="who">{}<span><b>{}</b>'
    "<br><small>{}</small></span></p><p>{}</p></div>"
)
_FACE = '<img src="{}" alt="" width="40" height="40">'
NOTHING = "Fill in the form and choose Preview."
GONE = "The target is gone or hidden: the promotion is not shown."


def draw_preview(campaign: Campaign) -> SafeString:
    """A card as on the pages. Cost: for a post or an account what loading it costs.

    `campaign`: also one that is not stored, as its form has it.
    """
    if campaign.post_id:
        return _draw_post(PostId.from_base36(campaign.post_id))
    if campaign.account_id is not None:
        return _draw_account(campaign.account_id)
    if not campaign.ad_title:
        return format_html("<p>{}</p>", NOTHING)
    return format_html(_CARD, "", campaign.ad_title, campaign.ad_url, campaign.ad_text)


def _draw_post(post_id: PostId) -> SafeString:
    body = load_status_json([post_id]).get(post_id)
    if body is None:
        return format_html("<p>{}</p>", GONE)
    return draw_status(orjson.loads(body))


def draw_status(status: dict[str, Any]) -> SafeString:
    """A post as a promotion, with the number of its images."""
    images = len(status["media_attachments"])
    text = f"{status['content']} ({images} images)" if images else status["content"]
    return _draw(status["account"], text)


def _draw_account(account_id: int) -> SafeString:
    body = load_account_json([account_id]).get(account_id)
    if body is None:
        return format_html("<p>{}</p>", GONE)
    account = orjson.loads(body)
    return _draw(account, account["note"])


def _draw(account: dict[str, Any], html: str) -> SafeString:
    name, address = account["display_name"] or account["acct"], f"@{account['acct']}"
    face = format_html(_FACE, account["avatar"].removeprefix(settings.PUBLIC_URL))
    return format_html(_CARD, face, name, address, unescape(strip_tags(html)))
