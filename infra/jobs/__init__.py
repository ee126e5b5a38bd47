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

    class Command(JobCommand):
        flags = WALK

        def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
            return recount(work)
"""
