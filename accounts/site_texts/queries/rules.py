"""The rules of the site by id, as reports name them."""

from collections.abc import Collection

from accounts.site_texts.models import SiteRule


def load_rule_texts(rule_ids: Collection[int]) -> dict[int, str]:
    """The texts of those rules that exist now, by id. One query by key."""
    return dict(SiteRule.objects.filter(pk__in=rule_ids).values_list("pk", "text"))
