// Explanations of codes. The page shows the codes as well, because programs and papers quote them.

const POLARITY = {
  positive: { sign: "+", class: "pos" },
  negative: { sign: "−", class: "neg" },
  neutral: { sign: "○", class: "neu" },
  mixed: { sign: "±", class: "mix" },
};

const WORDS = {
  skip: {
    not_exposed: "this condition does not show memory here",
    gate_closed: "nothing in Stage1 opens the gate",
    empty_bundle: "there is no advice",
    char_cap: "it does not fit the character cap",
  },
  adopt: {
    risk_resolved: "a change was applied and the validator reports less risk",
    debate_action: "the debate made or supported a change",
    grounding_improved: "an explicit aspect was added where there was none",
    conflict_blocked: "the changes would give an aspect two polarities",
    low_signal: "the signals for a change are too weak",
    ev_below_threshold: "the evidence value is too low",
  },
  change: {
    one_witness: "fewer than two witnesses are for it",
    no_judge_nor_two_speakers: "a flip needs the judge or two speakers",
    sure_reader_against: "the reader is sure of the opposite",
    creates_conflict: "the aspect would have two polarities",
    not_in_text: "the text does not hold the term",
    no_polarity: "nobody says which polarity it should be",
    score_too_low: "these witnesses do not suffice",
    outweighed: "another change of the same pair is stronger",
  },
  witness: { review: "Stage2", epm: "EPM", tan: "TAN", cj: "CJ" },
  override: {
    max_one_override_per_sample: "the sample already has an override",
    neutral_only: "no hint for + or −",
    no_evidence_span: "the judge cites no evidence",
    evidence_span_not_in_text: "the cited evidence is not in the text",
    evidence_span_missing_trigger: "the cited evidence is too short",
    low_signal: "the weight is too small",
    action_ambiguity: "the margin is too small",
    l3_conservative: "an L3 risk covers the aspect",
    implicit_soft_only: "the opinion is implicit",
    already_confident: "the aspect already has that polarity",
  },
  store: {
    store_write_disabled: "the condition writes nothing",
    no_gate_passed: "the episode is neither risky nor useful nor new",
  },
  rule: {
    Z: "no judgement",
    B: "base stage",
    M: "mixed",
    C: "validator",
    A: "agreement",
    D: "disagreement",
    E: "judge",
    P: "pairs",
    T: "whole text",
  },
  ev: {
    debate_support: "debate support",
    validator_resolved: "validator: risk resolved",
    grounding: "grounding",
    confidence_gain: "confidence gain",
  },
  speaker: { epm: "EPM", tan: "TAN", cj: "CJ" },
  flag: {
    failed: "failed",
    changed: "changed",
    fixed: "fixed",
    broken: "broken",
    injected: "memory shown",
    blocked: "advice blocked",
  },
};

const inWords = (kind, code) => WORDS[kind][code] || code.replaceAll("_", " ");
