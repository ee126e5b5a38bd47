"""How promotions went, counted where pages are made."""

from prometheus_client import Counter

PROMOTIONS = Counter(
    "tideline_promotions_total",
    "Promotions placed on home pages: new impressions, shown again in their place, or refused by"
    " the viewer's blocks and mutes or because what they promote is gone",
    ["kind", "outcome"],
)
