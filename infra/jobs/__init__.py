"""The frame of all maintenance commands: flags, locks, runs, progress, checkpoints, exit codes.

A job is a generator of batches; a command runs it (docs/reference/commands):

    COUNTERS = Table("counters_counter", key=("account_id",), columns=("posts",))

    def recount(work: Work) -> Iterator[Batch]:
        for alias, rows, position in walk_table(work, COUNTERS):
            wrong = find_wrong(alias, rows)
            if not work.dry_run:
                repair(alias, wrong)
            lines = [f"account {row.id}: {row.posts} -> {row.counted}" for row in wrong]
            yield Batch(len(rows), 0, alias, len(wrong), position, lines)

    class RecountCounters(JobCommand):
        name = "rebuild counters"
        flags = WALK
        job = staticmethod(recount)

What compares and repairs two sides declares passes instead (`infra.jobs.audit`).
"""
