"""The table of mutants is what the last trials said."""

import json

from lab.faults.mutants.report import PAGE as MUTANTS_PAGE
from lab.faults.mutants.report import KeptTrial, load_trials, page_with_table, summary_of
from lab.faults.mutants.run import Trial, read_trial


def test_page_is_what_the_trials_say() -> None:
    text = MUTANTS_PAGE.read_text()
    assert page_with_table(text, load_trials()) == text


def test_mutant_that_is_not_caught_is_said_so() -> None:
    trials = {"no row lock": KeptTrial("F19a", 1, "not caught", "")}
    page = page_with_table(MUTANTS_PAGE.read_text(), trials)
    assert (
        "| no row lock | A write does not lock the row of its account. | **not caught** (F19a) |"
        in page
    )


def test_page_names_each_kind_of_finding_once() -> None:
    by = "audit 1 finds nothing; audit 2 finds nothing; all answers can be right: gone (3)"
    trials = {"no row lock": KeptTrial("F19a", 1, "caught", by)}
    assert "| F19a: audits, answers |" in page_with_table(MUTANTS_PAGE.read_text(), trials)


def test_rules_are_counted_in_the_summary() -> None:
    found = [("all answers can be right", "{'own write': 2, 'gone': 1}: gone: Seen('lost': 3)")]
    trial = Trial("a", "F19a", [*found, ("audit 1 finds nothing", "text")])
    expected = "all answers can be right: own write (2), gone (1); audit 1 finds nothing"
    assert summary_of(trial) == expected


def test_the_last_line_of_a_trial_counts() -> None:
    found = json.dumps({"found": [["audit 1 finds nothing", ""]], "broken": "a read failed"})
    trial = read_trial("a", "F19a", f"seed 1\n{found}", "")
    assert trial.is_caught
    assert not trial.broken
    assert not read_trial("a", "F19a", '{"found": [], "broken": ""}', "").is_caught


def test_an_experiment_that_broke_gives_no_verdict() -> None:
    assert read_trial("a", "F19a", '{"found": [], "broken": "503"}', "").broken == "503"
    assert read_trial("a", "F19a", "", "no such module").broken == "no such module"
