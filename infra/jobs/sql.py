"""SQL over the tables of jobs, for statements of other apps; only this app names them."""

# (job, state, count) of the runs that began within a day, without dry runs.
COUNT_RECENT_RUNS = """
SELECT job, state, count(*) FROM jobs_jobrun
WHERE started_at > now() - interval '1 day' AND NOT dry_run GROUP BY 1, 2
"""
