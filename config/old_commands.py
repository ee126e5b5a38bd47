"""What commands were called in the release before this one, which says the new name for each."""

import sys

_NAMES = """
abort_move: moves abort; add_shard: shards add; announce_rows: changes announce; audit_accounts:
audit accounts; audit_conversations: audit conversations; audit_counters: audit counters;
audit_edges: audit edges; audit_notifications: audit notifications; audit_recent_posts: audit
recent-posts; audit_responses: audit responses; audit_tags: audit tags; audit_timelines: audit
timelines; backfill_backward_edges: backfill backward-edges; backfill_conversations: backfill
conversations; backfill_notifications: backfill notifications; backfill_recent_posts: backfill
recent-posts; backfill_tags: backfill tags; backfill_threads: backfill threads; check_invariants:
audit invariants; check_shards: shards check; complete_move: moves complete; create_account:
accounts create; create_service: services create; create_webhook: webhooks create; discard_changes:
changes discard; distrust_issuer: issuers distrust; drain_changes: changes drain; export_account:
accounts export; import_accounts: import accounts; import_follows: import follows; import_posts:
import posts; move_buckets: moves start; park_changes: changes park; pause_changes: changes pause;
purge_accounts: accounts purge; purge_caches: caches purge; purge_deleted_posts: purge
deleted-posts; rebalance: moves rebalance; rebuild_count_cache: rebuild count-cache;
rebuild_relation_caches: rebuild relation-caches; rebuild_timelines: rebuild timelines;
reconcile_shard: shards reconcile; recount_counters: rebuild counters; redeliver_events: webhooks
redeliver; remove_unused_images: purge unused-images; replay_changes: changes replay;
reset_relations: accounts reset-relations; reset_second_step: accounts reset-second-step;
restore_account: accounts restore; resume_changes: changes resume; resume_move: moves resume;
show_change_lag: changes lag; show_hot_keys: caches hot-keys; show_moves: moves show;
show_parked_changes: changes parked; show_shards: shards show; show_webhooks: webhooks show;
suspend_account: accounts suspend; trim_notifications: purge old-notifications; trust_issuer:
issuers trust; undo_move: moves undo; unpark_changes: changes unpark; update_webhook: webhooks
update; vacuum_timelines: purge stale-entries; warm_caches: caches warm
"""
NEW_NAMES = dict(pair.split(": ") for pair in " ".join(_NAMES.split()).split("; "))


def refuse_old_name(argv: list[str]) -> None:
    """Exits with 1 and the name of today if a command line has an old name."""
    words = argv[2:] if argv[1:2] == ["help"] else argv[1:]
    if words and words[0] == "load_graph":
        sys.exit("load_graph is now: python -m lab.graph")
    if words and words[0] in NEW_NAMES:
        sys.exit(f"{words[0]} is now: manage.py {NEW_NAMES[words[0]]}")
