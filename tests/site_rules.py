"""Rules of the site, as operators write them."""

from accounts.site_texts.models import SiteRule, SiteTexts
from accounts.types import FIRST_TENANT


def make_rule(text: str) -> int:
    """Its id."""
    site, _ = SiteTexts.objects.get_or_create(tenant=FIRST_TENANT)
    return SiteRule.objects.create(site=site, text=text).pk
