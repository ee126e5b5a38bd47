"""SQL on the table of filters, for other packages. No other app names this table."""

from infra.jobs.walk import Table

# For jobs that walk all filters.
FILTERS = Table("filters_filter", ("owner_id", "filter_id"))


def select_filters(owners: str) -> str:
    """`SELECT owner_id, rule`: each filter of these accounts as JSON, oldest first.

    `owners`: a placeholder of a list. posts.filters.types.PostFilter is the decoded form.
    """
    return (
        "SELECT owner_id, (to_jsonb(f) - 'owner_id')::text AS rule FROM filters_filter f"  # noqa: S608
        f" WHERE owner_id = ANY({owners}::bigint[]) ORDER BY owner_id, filter_id"
    )
