"""SQL on the tables of promotions, for other apps. No other app names these tables."""

from infra.jobs.walk import Table

# For jobs that walk the campaigns that accounts hide.
HIDDEN_CAMPAIGNS = Table("promotions_hiddencampaign", ("owner_id", "campaign_id"))
