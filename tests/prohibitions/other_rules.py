"""Rules outside the list of prohibitions whose breach would leave every result plausible, each broken by a mutant."""

from typing import Final

from tests.prohibitions.mutant import Mutant, mutant

OTHER_RULES: Final[tuple[Mutant, ...]] = (
    mutant(
        "debate gate: two alignment failures open it",
        "signals.alignment_failure_n >= 2)",
        "signals.alignment_failure_n >= 1)",
        "memory/injection/test_gates.py::test_a_gate_gives_the_first_reason_and_all_reasons",
    ),
    mutant(
        "moderator: rule M needs both polarities",
        'not {"positive", "negative"} <= held',
        'not {"positive", "negative"} & held',
        "seed/test_moderator.py::test_rule_m_needs_different_labels_and_both_polarities_and_rule_a_agreement_in_one_place",
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
        "pipeline/test_calls.py::test_the_retriever_is_asked_once_before_the_debate_with_the_signature_of_stage1",
    ),
    mutant(
        "store: its default place outside experiments",
        'Path("memory") / "episodic_store.jsonl"',
        'Path("memory") / "store.jsonl"',
        "test_analyzer_defaults.py"
        "::test_outside_experiments_the_store_lies_in_the_memory_folder_of_the_working_directory",
    ),
    mutant(
        "store: its default place on the command line",
        'DEFAULT_STORE = "memory/episodic_store.jsonl"',
        'DEFAULT_STORE = "memory/store.jsonl"',
        "test_analyzer_defaults.py::test_the_command_line_stores_and_reads_at_the_same_default",
    ),
    mutant(
        "cell: its resolved condition is written into its configuration",
        '["condition"] = cell.condition.name',
        '["condition"] = None',
        "runs/records/test_manifest.py::test_each_cell_is_configured_with_its_own_resolved_condition",
    ),
    mutant(
        "memory: the condition reaches it unchanged",
        "backend=self._context.backend, condition=cell.condition, store=live",
        "backend=self._context.backend, store=live, "
        'condition=cell.condition.model_copy(update={"exposed_to_stage2": False})',
        "runs/records/test_manifest.py::test_the_memory_obeys_the_condition_of_the_block_unchanged",
    ),
    mutant(
        "injection: exposure decides, whatever the slot holds",
        "    if not exposed:\n",
        "    if not exposed and not slot['retrieved']:\n",
        "pipeline/test_memory_slot.py::test_the_supervisor_alone_decides_whether_an_offered_slot_is_merged",
    ),
    mutant(
        "injection: a closed gate keeps the slot out",
        "elif not gate.allowed:",
        "elif gate.allowed is None:",
        "pipeline/test_memory_slot.py::test_a_closed_gate_keeps_the_slot_out_of_an_exposed_sample",
    ),
    mutant(
        "Stage2 gate: one alignment failure opens it",
        "signals.alignment_failure_n >= 1)",
        "signals.alignment_failure_n >= 2)",
        "memory/injection/test_gates.py::test_a_gate_gives_the_first_reason_and_all_reasons",
    ),
    mutant(
        "gates: no drop is no grounding failure",
        "        and bool(drop_reasons)\n",
        "",
        "memory/injection/test_gates.py::test_a_gate_gives_the_first_reason_and_all_reasons",
    ),
    mutant(
        "adoption: severity must fall",
        "severity_sum(validator2_risks) < severity_sum(stage1_risks)",
        "severity_sum(validator2_risks) <= severity_sum(stage1_risks)",
        "seed/test_adoption.py::test_a_risk_is_resolved_only_by_an_applied_change_and_a_lower_severity",
    ),
    mutant(
        "adoption: an unsettled conflict blocks a debate action",
        '(False, "conflict_blocked") if patched.unsettled_conflict else (True, "debate_action")',
        '(True, "debate_action")',
        "seed/test_adoption.py::test_an_unsettled_new_conflict_blocks",
    ),
    mutant(
        "adoption: too little evidence value refuses",
        "if adopt and ev < ev_threshold:",
        "if adopt and ev <= ev_threshold:",
        "seed/test_adoption.py::test_an_evidence_value_below_the_threshold_is_refused",
    ),
    mutant(
        "override: success allows no new high-severity tag",
        "success=after < before and not new_conflict and not new_high",
        "success=after < before and not new_conflict",
        "seed/test_adoption.py::test_an_override_succeeds_or_harms_by_risk_alone",
    ),
    mutant(
        "override gate: the target's weight reaches min_total",
        "max(score.pos, score.neg) < thresholds.min_total",
        "score.pos + score.neg < thresholds.min_total",
        "seed/test_override_gate.py::test_reasons_are_tested_in_the_order_of_the_specification",
    ),
    mutant(
        "override gate: one override per sample",
        '("max_one_override_per_sample", any(decision.decision == "APPLY" for decision in decisions))',
        '("max_one_override_per_sample", False)',
        "seed/test_override_gate.py::test_at_most_one_override_is_applied_in_aspect_order",
    ),
    mutant(
        "moderator: the drop guard's margin",
        "if margin >= _DROP_GUARD_MARGIN:",
        "if margin > _DROP_GUARD_MARGIN:",
        "seed/test_moderator.py::test_rule_b_guards_against_a_drop_of_a_fifth",
    ),
    mutant(
        "moderator: rule E fires only below its confidence or on mixed",
        'state.confidence >= _JUDGE_BELOW and state.label != "mixed"',
        "state.confidence >= _JUDGE_BELOW",
        "seed/test_moderator.py::test_rule_e_follows_the_judge_where_the_label_is_mixed",
    ),
    mutant(
        "dangerous advice: an override without success failed",
        "not evaluation.override_success or evaluation.override_harm",
        "evaluation.override_harm",
        "memory/advice/test_dangerous_advice.py::test_an_episode_has_failed_by_its_outcome_and_where_no_witness_decided_by_its_override_or_risk",
    ),
    mutant(
        "metrics: net gain counts what broke",
        'rate("net_gain", fixed - broken, len(exact))',
        'rate("net_gain", fixed, len(exact))',
        "metrics/test_quality_by_oracle.py::test_exact_match_and_corrections_count_samples_with_gold",
    ),
    mutant(
        "sample: an unnamed review gets a random uuid",
        'or f"analyze-{uuid.uuid4()}"',
        'or f"analyze-{uuid.uuid1()}"',
        "test_analyzer_defaults.py::test_an_analysis_names_its_sample_by_a_random_uuid_unless_a_uid_is_passed",
    ),
    mutant(
        "records: every final tuple is judged in its order",
        "for final_tuple in analysis.final_tuples:\n        evidence",
        "for final_tuple in analysis.final_tuples[::-1]:\n        evidence",
        "runs/records/test_scorecards.py::test_every_final_tuple_is_judged_in_its_order",
    ),
    mutant(
        "trace: every change carries its reason",
        "rejected_changes=stage2.rejected_changes if stage2 else ()",
        "rejected_changes=()",
        "runs/records/test_scorecards.py::test_a_case_trace_obeys_its_schema_and_gives_a_reason_for_every_change",
    ),
    mutant(
        "memory: a sample is retrieved for once",
        "episodes = self._retriever.retrieve(stored, signature, query, sample_id=sample_id)",
        "for _ in (1, 2):\n"
        "            episodes = self._retriever.retrieve(stored, signature, query, sample_id=sample_id)",
        "pipeline/test_calls.py::test_the_retriever_is_asked_once_before_the_debate_with_the_signature_of_stage1",
    ),
    mutant(
        "data: a uid stands once over all splits",
        "        require_unique_uids({self.paths",
        "        dict({self.paths",
        "verification/test_preflight.py::test_a_uid_in_two_splits_is_an_error",
    ),
)
