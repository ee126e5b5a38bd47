"""SQL on the tables of tags, for other apps. No other app names these tables."""

from infra.jobs.walk import Table

# For jobs that walk all followed and featured tags.
ACCOUNT_TAGS = Table("tags_accounttag", ("owner_id", "kind", "tag_id"))
# For jobs that walk the choices of accounts.
TAG_SETTINGS = Table("tags_tagsettings", ("owner_id",))
# For jobs that walk the tag index; its rows are on the shards of the tags.
TAGGED = Table("tags_taggedpost", ("tag_id", "second", "author_id", "sequence"))
# Parameter: ids of tags of the shard. Returns tag_id, name.
TAG_NAMES = "SELECT tag_id, name FROM tags_tag WHERE tag_id = ANY(%s::bigint[])"
