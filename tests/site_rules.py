"""Rules of the site, as operators write them."""

from accounts.site_texts.models import SiteRule, SiteTexts


def make_rule(text: str) -> int:
    """Its id."""
    site, _ = SiteTexts.objects.get_or_create()
    return SiteRule.objects.create(site=site, text=text).pk
