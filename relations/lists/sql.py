"""SQL on the tables of account lists. No other app names these tables."""

from infra.jobs.walk import Table

# Whether the account `other` is on an exclusive list of %(viewer)s by the follow `mine`. The lists
# are read once for all accounts, and then each account costs one look into the key of the members.
IS_ON_EXCLUSIVE_LIST = """EXISTS (
        SELECT 1 FROM lists_listmember AS member WHERE member.owner_id = %(viewer)s
            AND member.list_id = ANY(ARRAY(
                SELECT list_id FROM lists_accountlist WHERE owner_id = %(viewer)s AND exclusive
            ))
            AND member.account_id = other.id AND member.since_ms = mine.since_ms
            AND mine.attribute IN (1, 2)
    )"""
# For jobs that walk all lists: owner_id, list_id.
ACCOUNT_LISTS = Table("lists_accountlist", ("owner_id", "list_id"))
