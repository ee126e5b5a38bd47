"""The 22 security checks: each with its promise, and what shows that it holds."""

from lab.faults.table import TableRow

_WHOLE = "tests/integration/"
_SCHEMA = "tests/contract/test_schema_contract.py"

SECURITY = [
    TableRow(
        "S1",
        "schemathesis, all checks",
        "no 5xx, answers as documented",
        f"{_SCHEMA}::test_the_api_does_what_its_schema_says",
    ),
    TableRow(
        "S2",
        "two identities",
        "one cannot read the other's objects",
        f"{_SCHEMA}::test_the_api_does_what_its_schema_says",
    ),
    TableRow(
        "S3",
        "every endpoint for every role",
        "the table in the repository",
        "tests/contract/test_role_matrix.py::test_every_role_may_do_what_the_table_says",
    ),
    TableRow(
        "S4",
        "delete or edit another's post",
        "404, nothing changed",
        f"{_WHOLE}posts/test_publishing.py::test_deleting_twice_or_what_never_was_is_not_found",
    ),
    TableRow(
        "S5",
        "a blocked viewer",
        "the same bytes as for what does not exist",
        f"{_WHOLE}relations/test_secrets.py"
        "::test_block_shows_to_the_blocked_where_mastodon_shows_it",
    ),
    TableRow(
        "S6",
        "secret relations",
        "others see no difference",
        f"{_WHOLE}relations/test_secrets.py::test_others_get_the_same_bytes",
    ),
    TableRow(
        "S7",
        "fields that a client may not set",
        "ignored or refused",
        "tests/contract/test_mass_assignment.py"
        "::test_fields_that_are_not_documented_are_ignored_or_refused",
    ),
    TableRow(
        "S8",
        "pages of moderators",
        "permissions, CSRF, a row for each decision",
        f"{_WHOLE}accounts/test_consent_forgery.py"
        "::test_no_form_of_ours_can_be_sent_by_another_page",
    ),
    TableRow(
        "S9",
        "bad, expired, revoked tokens",
        "401 at once",
        f"{_WHOLE}accounts/test_tokens.py::test_without_a_good_token_nobody_gets_in",
    ),
    TableRow(
        "S10",
        "many tries to sign in",
        "throttled",
        f"{_WHOLE}accounts/test_sign_in_throttle.py"
        "::test_one_address_that_tries_many_names_is_refused",
    ),
    TableRow(
        "S11",
        "quotas over several processes",
        "hold within 10 %; without Redis in each process",
        f"{_WHOLE}accounts/test_quotas_of_processes.py::test_processes_together_grant_the_quota",
    ),
    TableRow(
        "S12",
        "a race for the last of a limit",
        "exactly so many",
        f"{_WHOLE}relations/test_follow_rows.py"
        "::test_64_follows_at_one_below_the_cap_let_one_through",
    ),
    TableRow(
        "S13",
        "senseless cursors and limits",
        "refused or clamped",
        f"{_WHOLE}posts/test_both_id_forms.py"
        "::test_made_up_numbers_are_cursors_of_every_other_list",
    ),
    TableRow(
        "S14",
        "SQL and key injection",
        "none",
        "tests/contract/test_injection.py::test_no_text_is_run_or_becomes_a_key",
    ),
    TableRow(
        "S15",
        "scripts in posts and names",
        "escaped, refused by the policy",
        f"{_WHOLE}config/test_page_security.py"
        "::test_pages_have_nothing_that_their_policy_keeps_from_running",
    ),
    TableRow(
        "S16",
        "huge, deep and slow bodies",
        "413, 400 or 408; no worker is lost",
        f"{_WHOLE}api/test_hostile_bodies.py"
        "::test_each_hostile_body_is_refused_and_the_worker_lives",
    ),
    TableRow(
        "S17",
        "many users, mixed requests",
        "no answer of another user",
        f"{_WHOLE}api/test_cross_viewers.py::test_no_answer_is_another_ones",
    ),
    TableRow(
        "S18",
        "planted values in Redis",
        "no pickle is read",
        f"{_WHOLE}caching/test_planted_entries.py::test_no_pickle_is_read",
    ),
    TableRow(
        "S19",
        "amplification",
        "bounded cost",
        f"{_WHOLE}relations/test_follow_limits.py::test_the_last_of_many_costs_what_the_first_did",
    ),
    TableRow(
        "S20",
        "a suspended account",
        "gone at once, and after maintenance",
        f"{_WHOLE}moderation/test_suspended.py::test_it_stays_invisible_after_maintenance",
    ),
    TableRow("S21", "settings of a deployment", "checked", why_not="part of `make check`"),
    TableRow("S22", "packages", "pinned by hashes", why_not="part of `make lock`"),
]
