// Codes in words. The codes stay visible beside them: they are what programs and papers quote.

const POLARITY = {
  positive: { sign: "+", class: "pos" },
  negative: { sign: "−", class: "neg" },
  neutral: { sign: "○", class: "neu" },
  mixed: { sign: "±", class: "mix" },
};

const WORDS = {
  skip: {
    not_exposed: "this condition does not show memory here",
    gate_closed: "nothing in Stage1 calls for advice",
    empty_bundle: "there is no advice",
    char_cap: "it does not fit the character cap",
  },
  adopt: {
    risk_resolved: "a change was applied and the critic finds less risk",
    debate_action: "the debate made or backed a change",
    grounding_improved: "an aspect is named where none was",
    conflict_blocked: "the changes would leave an aspect with two polarities",
    low_signal: "nothing speaks strongly enough for a change",
    ev_below_threshold: "the evidence value is too low",
  },
  override: {
    max_one_override_per_sample: "one is applied already",
    neutral_only: "no hint for + or −",
    no_evidence_span: "the judge cites no evidence",
    evidence_span_not_in_text: "the cited evidence is not in the text",
    evidence_span_missing_trigger: "the cited evidence is too short",
    low_signal: "too little weight",
    action_ambiguity: "too small a margin",
    l3_conservative: "an L3 risk covers the aspect",
    implicit_soft_only: "the opinion is implicit",
    already_confident: "has that polarity already",
  },
  store: {
    store_write_disabled: "the condition writes nothing",
    no_gate_passed: "neither risky, nor useful, nor new",
  },
  rule: {
    Z: "nothing judged",
    B: "base stage",
    M: "mixed",
    C: "critic",
    A: "agreement",
    D: "disagreement",
    E: "judge",
  },
  ev: {
    debate_support: "debate support",
    validator_resolved: "critic: risk resolved",
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
