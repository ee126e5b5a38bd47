"""SQL fragments over the table of counts, for statements of other apps; only this app names it."""

TABLE = "counters_counter"
# For COPY and INSERT.
COLUMNS = f"{TABLE} (owner_id, subject, kind, value, version)"
# Sums one kind of account counts over a sample of the table; the parameter is a percentage.
SAMPLE_SUM = f"SELECT coalesce(sum(value), 0) FROM {TABLE} TABLESAMPLE SYSTEM (%s)"  # noqa: S608


def account_counts_sql(owner: str) -> str:
    """What `counters.cache.entry_of` reads, after the writes of the statement's FROM."""
    return f"counters_account_entry({owner})"


def select_counts(owner: str, subject: str, condition: str = "true") -> str:
    """`SELECT kind, value` of one subject's counts. Arguments are SQL expressions."""
    return (
        f"SELECT kind, value FROM {TABLE}"  # noqa: S608 - of SQL written in the program
        f" WHERE owner_id = {owner} AND subject = {subject} AND {condition}"
    )


def select_versions(owners: str, kinds: str) -> str:
    """`SELECT owner_id, version`: the sum of the versions of these kinds, by account.

    `owners` and `kinds` are placeholders of lists. Accounts without a count have no row.
    """
    return (
        f"SELECT owner_id, sum(version)::bigint AS version FROM {TABLE}"  # noqa: S608
        f" WHERE owner_id = ANY({owners}::bigint[]) AND subject = 0"
        f" AND kind = ANY({kinds}::smallint[]) GROUP BY owner_id"
    )


def join_positive_count(owner: str, subject: str, kind: int) -> str:
    """`JOIN …`: keeps the rows whose count of this kind is above zero."""
    return (
        f"JOIN {TABLE} AS count ON count.owner_id = {owner} AND count.subject = {subject}"
        f" AND count.kind = {int(kind)} AND count.value > 0"
    )


def create_and_lock_counts(kind: int) -> tuple[str, str]:
    """Two statements that lock the counts of this kind of accounts, in the order of `move_counts`.

    The parameter of each is the list of accounts. The first creates missing counts, and waits for
    one that another transaction is creating. The second returns owner_id, version.
    """
    kind = int(kind)
    create = (
        f"INSERT INTO {COLUMNS} SELECT id, 0, {kind}, 0, 0 FROM unnest(%s::bigint[]) AS id"  # noqa: S608
        " ORDER BY id ON CONFLICT DO NOTHING"
    )
    lock = (
        f"SELECT owner_id, version FROM {TABLE}"  # noqa: S608
        " WHERE owner_id = ANY(%s::bigint[]) AND subject = 0"
        f" AND kind = {kind} ORDER BY owner_id FOR NO KEY UPDATE"
    )
    return create, lock
