"""Moves buckets of accounts from one shard to another while people read and write.

PostgreSQL's logical replication copies the rows and keeps the copy up to date. What is here is the
order of the steps (route.py), the guard that lets each account write on one shard only (guard.py),
the switch from one shard to the other (switch.py), and the proof that both have the same rows
(compare.py). Why: docs/explanation/decisions/0086-buckets-move-by-logical-replication.md.

All that a move makes is named after the id of its row, which is written first. So the next process
finds and removes all of it, whenever the one that made it died.
"""
