"""The broken rules that tests must notice. Each stands for a defect that would leave every result plausible."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One rule, broken by one replacement, and the tests that must fail for it."""

    rule: str
    old: str
    """A piece of source that occurs once in the package: it names its own place, wherever the module moves."""
    new: str
    tests: tuple[str, ...]
    """What pytest is given: files, or `file::test_name`."""


def mutant(rule: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a mutant; `tests` are paths below the folder of all tests."""
    return Mutant(rule, old, new, tuple(f"tests/{test}" for test in tests))


QUICK = (
    mutant(
        "debate gate: two alignment failures open it",
        "signals.alignment_failure_n >= 2)",
        "signals.alignment_failure_n >= 1)",
        "memory/injection/test_gates.py",
    ),
    mutant(
        "usage: attempts are those of all calls",
        "sum(call.attempts for call in calls),\n        tokens_in",
        "len(calls),\n        tokens_in",
        "runs/records/test_usage_sums.py",
    ),
    mutant(
        "moderator: rule M needs both polarities",
        'not {"positive", "negative"} <= held',
        'not {"positive", "negative"} & held',
        "agents/decision/test_moderator.py",
    ),
)
"""Run with every build."""

SLOW = (
    mutant(
        "usage: tokens are those of all calls",
        "tokens_in=sum(call.tokens_in for call in calls)",
        "tokens_in=sum(call.tokens_in for call in calls[:9])",
        "runs/records/test_usage_sums.py",
    ),
    mutant(
        "signature: a stored episode counts the kept aspects",
        "language_code, len(stage1.ate.aspects))",
        "language_code, len(stage1.atsa.sentiments))",
        "memory/test_orchestrator.py::test_the_stored_signature_is_that_of_the_text_and_of_the_kept_aspects",
    ),
    mutant(
        "signature: the query counts the kept aspects",
        "language_code, len(stage1_ate.aspects))",
        "language_code, len(stage1_atsa.sentiments))",
        "agents/test_calls.py::test_the_retriever_is_asked_once_before_the_debate_with_the_signature_of_stage1",
    ),
    mutant(
        "store: its default place outside experiments",
        'Path("memory") / "episodic_store.jsonl"',
        'Path("memory") / "store.jsonl"',
        "test_analyzer_defaults.py",
    ),
    mutant(
        "store: its default place on the command line",
        'Path("memory/episodic_store.jsonl")',
        'Path("memory/store.jsonl")',
        "test_analyzer_defaults.py",
    ),
    mutant(
        "store: its name in a run directory",
        'STORE: Final = "episodic_store.jsonl"',
        'STORE: Final = "store.jsonl"',
        "runs/records/test_manifest.py::test_the_manifest_names_the_store_that_was_used",
    ),
    mutant(
        "cell: its resolved condition is written into its configuration",
        '["condition"] = cell.condition.name',
        '["condition"] = None',
        "runs/records/test_manifest.py::test_each_cell_is_configured_with_its_own_resolved_condition",
    ),
    mutant(
        "memory: the condition reaches it unchanged",
        "            condition=cell.condition,\n            store=cell.store or",
        '            condition=cell.condition.model_copy(update={"exposed_to_stage2": False}),\n'
        "            store=cell.store or",
        "runs/records/test_manifest.py::test_the_memory_obeys_the_condition_of_the_block_unchanged",
    ),
    mutant(
        "injection: exposure decides, whatever the slot holds",
        "    if not exposed:\n",
        "    if not exposed and not slot['retrieved']:\n",
        "agents/test_memory_slot.py::test_the_supervisor_alone_decides_whether_an_offered_slot_is_merged",
    ),
    mutant(
        "injection: a closed gate keeps the slot out",
        "elif not gate.allowed:",
        "elif gate.allowed is None:",
        "agents/test_memory_slot.py",
    ),
    mutant(
        "records: retrieved ids are those of the retrieval",
        "retrieved_ids=tuple(episode.episode_id for episode in episodes or ())",
        "retrieved_ids=()",
        "runs/records/test_silent_records.py",
    ),
    mutant(
        "Stage2 gate: one alignment failure opens it",
        "signals.alignment_failure_n >= 1)",
        "signals.alignment_failure_n >= 2)",
        "memory/injection/test_gates.py",
    ),
    mutant(
        "gates: no drop is no grounding failure",
        "        and bool(drop_reasons)\n",
        "",
        "memory/injection/test_gates.py",
    ),
    mutant(
        "adoption: severity must fall",
        "severity_sum(validator2_risks) < severity_sum(stage1_risks)",
        "severity_sum(validator2_risks) <= severity_sum(stage1_risks)",
        "agents/decision/test_adoption.py",
    ),
    mutant(
        "adoption: an unsettled conflict blocks a debate action",
        '(False, "conflict_blocked") if patched.unsettled_conflict else (True, "debate_action")',
        '(True, "debate_action")',
        "agents/decision/test_adoption.py",
        "agents/stage2/test_patch.py",
    ),
    mutant(
        "adoption: too little evidence value refuses",
        "if adopt and ev < ev_threshold:",
        "if adopt and ev <= ev_threshold:",
        "agents/decision/test_adoption.py",
    ),
    mutant(
        "override: success allows no new high-severity tag",
        "success=after < before and not new_conflict and not new_high",
        "success=after < before and not new_conflict",
        "agents/decision/test_adoption.py",
    ),
    mutant(
        "override gate: the target's weight reaches min_total",
        "score.target_weight < thresholds.min_total",
        "score.total < thresholds.min_total",
        "agents/stage2/test_override_gate.py",
    ),
    mutant(
        "override gate: one override per sample",
        '("max_one_override_per_sample", already_applied)',
        '("max_one_override_per_sample", False)',
        "agents/stage2/test_override_gate.py",
    ),
    mutant(
        "moderator: the drop guard's margin",
        "if margin >= _DROP_GUARD_MARGIN:",
        "if margin > _DROP_GUARD_MARGIN:",
        "agents/decision/test_moderator.py",
    ),
    mutant(
        "moderator: rule E fires only below its confidence or on mixed",
        'state.confidence >= _JUDGE_BELOW and state.label != "mixed"',
        "state.confidence >= _JUDGE_BELOW",
        "agents/decision/test_moderator.py",
    ),
    mutant(
        "episode: risk after is Stage1's unless adopted",
        "risks_after = outcome.structural_risks if adopted else risks_before",
        "risks_after = outcome.structural_risks",
        "memory/episodes/test_episode_builder.py",
    ),
    mutant(
        "scorecard: risk after is Stage1's unless adopted",
        "risk_after=risk_vector(risks2 if result.adoption.adopt else risks1)",
        "risk_after=risk_vector(risks2)",
        "runs/records/test_scorecards.py",
    ),
    mutant(
        "dangerous advice: an override without success failed",
        "not evaluation.override_success or evaluation.override_harm",
        "evaluation.override_harm",
        "memory/advice/test_dangerous_advice.py",
    ),
    mutant(
        "retrieval: the sample's own episodes are left out",
        "exclude_source=sample_id,",
        "exclude_source=None,",
        "memory/retrieval/test_retriever.py",
    ),
    mutant(
        "metrics: coverage is over samples where retrieval ran",
        "if card.memory and card.memory.retrieval_calls]",
        "if card.memory and card.memory.retrieved_k]",
        "metrics/test_process_by_oracle.py",
    ),
    mutant(
        "metrics: the micro score pools only samples with explicit gold",
        "len(predicted) + len(expected)) if expected else None",
        "len(predicted) + len(expected)) if True else None",
        "metrics/test_quality_by_oracle.py",
        "metrics/test_quality_metrics.py",
    ),
    mutant(
        "metrics: net gain counts what broke",
        'rate("net_gain", fixed - broken, len(exact))',
        'rate("net_gain", fixed, len(exact))',
        "metrics/test_quality_by_oracle.py",
    ),
    mutant(
        "sample: an unnamed review gets a random uuid",
        'uid=uid or f"analyze-{uuid.uuid4()}"',
        'uid=uid or f"analyze-{uuid.uuid1()}"',
        "test_analyzer_defaults.py",
    ),
    mutant(
        "records: every final tuple is judged in its order",
        " in result.final_result.final_tuples:",
        " in result.final_result.final_tuples[::-1]:",
        "runs/records/test_scorecards.py",
    ),
    mutant(
        "trace: every change carries its reason",
        "rejected_changes=stage2.rejected_changes if stage2 else ()",
        "rejected_changes=()",
        "runs/records/test_scorecards.py",
    ),
    mutant(
        "run: a writing run holds the lock of its store",
        "            with pipeline.store.writing():\n",
        "            if True:\n",
        "runs/test_writing_run.py::test_a_writing_run_holds_the_lock_of_its_store_from_the_first_request_to_the_last",
    ),
    mutant(
        "metrics: backfills count only where the experiment says so",
        "return self.manifest.config.eval.count_backfilled",
        "return False",
        "runs/test_writing_run.py",
    ),
    mutant(
        "memory: a sample is retrieved for once",
        "episodes = self._retriever.retrieve(stored, signature, query, sample_id=sample_id)",
        "for _ in (1, 2):\n"
        "            episodes = self._retriever.retrieve(stored, signature, query, sample_id=sample_id)",
        "agents/test_calls.py::test_the_retriever_is_asked_once_before_the_debate_with_the_signature_of_stage1",
    ),
    mutant(
        "data: a uid stands once over all splits",
        "        require_unique_uids({self.paths",
        "        dict({self.paths",
        "verification/test_preflight.py::test_a_uid_in_two_splits_is_an_error",
    ),
)
"""Run by `make torture`."""
