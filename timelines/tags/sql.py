"""SQL on the tables of tags, for other apps. No other app names these tables."""

from infra.jobs.walk import Table

# For jobs that walk all followed and featured tags.
ACCOUNT_TAGS = Table("tags_accounttag", ("owner_id", "kind", "tag_id"))
