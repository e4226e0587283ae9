// Words in two languages, and explanations of codes. The page shows the codes as well, because programs quote them.

/** The words in the language of the page. What is shown is drawn again when the reader changes the language. */
const say = (en, ko) => (document.documentElement.dataset.words === "ko" ? ko : en);

const POLARITY = {
  positive: { sign: "+", class: "pos", words: ["positive", "긍정"] },
  negative: { sign: "−", class: "neg", words: ["negative", "부정"] },
  neutral: { sign: "○", class: "neu", words: ["neutral", "중립"] },
  mixed: { sign: "±", class: "mix", words: ["mixed", "복합"] },
};

const WORDS = {
  skip: {
    not_exposed: ["this condition does not show memory here", "이 조건은 여기에서 메모리를 제시하지 않습니다"],
    gate_closed: ["nothing in Stage1 opens the gate", "Stage1 결과에 게이트를 열 이유가 없습니다"],
    empty_bundle: ["there is no advice", "조언이 없습니다"],
    char_cap: ["it does not fit the character cap", "글자 수 상한을 넘습니다"],
  },
  adopt: {
    risk_resolved: ["a change was applied and the validator reports less risk", "변경이 적용되었고 검증기의 위험이 줄었습니다"],
    debate_action: ["the debate made or supported a change", "토론이 변경을 제안하거나 지지했습니다"],
    grounding_improved: ["an explicit aspect was added where there was none", "없던 명시적 속성이 추가되었습니다"],
    conflict_blocked: ["the changes would give an aspect two polarities", "변경하면 한 속성의 극성이 둘이 됩니다"],
    low_signal: ["the signals for a change are too weak", "변경의 근거가 약합니다"],
    ev_below_threshold: ["the evidence value is too low", "근거 값이 기준보다 낮습니다"],
  },
  candidate: {
    likely: ["it is likely enough", "가능성이 충분합니다"],
    undoubted: ["at most one agent doubts the first analysis", "첫 분석을 의심하는 에이전트가 하나 이하입니다"],
    unlikely: ["it is not likely enough", "가능성이 충분하지 않습니다"],
    one_agent: ["one agent alone names it", "한 에이전트만 제시했습니다"],
    not_in_text: ["the text does not hold the term", "본문에 없는 용어입니다"],
    other_polarity: ["another polarity of the term is likelier", "용어의 다른 극성이 더 그럴듯합니다"],
    overlaps: ["a likelier term stands at the same place", "같은 자리에 더 그럴듯한 용어가 있습니다"],
  },
  witness: {
    stage1: ["Stage1", "Stage1"], epm: ["EPM", "EPM"], tan: ["TAN", "TAN"], cj: ["CJ", "CJ"], judge: ["judge", "판정자"],
    review: ["Stage2", "Stage2"], reader: ["reader", "판독기"], memory: ["memory", "메모리"],
  },
  reach: {
    reader: ["the reader alone: none of its pairs is in doubt", "판독기만: 의심스러운 쌍이 없습니다"],
    stage1: ["Stage1: after it no pair is in doubt", "Stage1까지: 그 뒤 의심스러운 쌍이 없습니다"],
    full: ["everybody: a pair is in doubt", "모두: 의심스러운 쌍이 있습니다"],
  },
  override: {
    max_one_override_per_sample: ["the sample already has an override", "이 샘플에는 이미 오버라이드가 있습니다"],
    neutral_only: ["no hint for + or −", "긍정이나 부정의 단서가 없습니다"],
    no_evidence_span: ["the judge cites no evidence", "판정자가 근거를 인용하지 않았습니다"],
    evidence_span_not_in_text: ["the cited evidence is not in the text", "인용한 근거가 본문에 없습니다"],
    evidence_span_missing_trigger: ["the cited evidence is too short", "인용한 근거가 너무 짧습니다"],
    low_signal: ["the weight is too small", "가중치가 너무 작습니다"],
    action_ambiguity: ["the margin is too small", "차이가 너무 작습니다"],
    l3_conservative: ["an L3 risk covers the aspect", "L3 위험이 이 속성에 걸쳐 있습니다"],
    implicit_soft_only: ["the opinion is implicit", "암시적 의견입니다"],
    already_confident: ["the aspect already has that polarity", "속성이 이미 그 극성입니다"],
  },
  store: {
    store_write_disabled: ["the condition writes nothing", "이 조건은 기록하지 않습니다"],
    no_gate_passed: ["the episode is neither risky nor useful nor new", "위험하지도 유용하지도 새롭지도 않은 에피소드입니다"],
    plain_sample: ["nobody proposed a change and no gate is open", "제안된 변경도 열린 게이트도 없습니다"],
  },
  stored: { stored: ["stored", "저장됨"], skipped: ["skipped", "저장하지 않음"] },
  rule: {
    Z: ["no judgement", "판단 없음"],
    B: ["base stage", "기본 단계"],
    M: ["mixed", "복합"],
    C: ["validator", "검증기"],
    A: ["agreement", "일치"],
    D: ["disagreement", "불일치"],
    E: ["judge", "판정자"],
    P: ["pairs", "속성과 극성의 쌍"],
    T: ["whole text", "글 전체"],
  },
  ev: {
    debate_support: ["debate support", "토론의 지지"],
    validator_resolved: ["validator: risk resolved", "검증기: 위험 해소"],
    grounding: ["grounding", "근거"],
    confidence_gain: ["confidence gain", "확신도 증가"],
  },
  speaker: { epm: ["EPM", "EPM"], tan: ["TAN", "TAN"], cj: ["CJ", "CJ"] },
  severity: { low: ["low", "낮음"], mid: ["mid", "중간"], high: ["high", "높음"] },
  fate: { resolved: ["resolved", "해소"], remains: ["remains", "남음"], new: ["new", "새로 발생"], "not reviewed": ["not reviewed", "검토하지 않음"] },
  expects: { change: ["change", "변경"], hold: ["hold", "유지"] },
  advice: {
    successful_override: ["successful override", "성공한 오버라이드"],
    failed_override_warning: ["failed override warning", "실패한 오버라이드 경고"],
    consistency_anchor: ["consistency anchor", "일관성 기준"],
  },
  strength: { weak: ["weak", "약함"], moderate: ["moderate", "보통"], strong: ["strong", "강함"] },
  verdict: { aspect: ["aspect", "속성"], sentiment: ["sentiment", "감성"] },
  source: {
    stage1: ["Stage1", "Stage1"], stage2: ["Stage2", "Stage2"], validator: ["the validator", "검증기"], judge: ["the judge", "판정자"],
    merged: ["both stages", "두 단계"], pairs: ["the final pairs", "최종 쌍"], reader: ["the reader", "판독기"],
  },
  step: {
    proposal: ["proposal", "제안"], judge_drop: ["judge drop", "판정자의 삭제"], anchor_guard: ["anchor guard", "용어 보호"],
    placeholder: ["placeholder", "자리 표시"], reduction: ["reduction", "축소"],
  },
  flag: {
    failed: ["failed", "실패"],
    changed: ["changed", "변경"],
    fixed: ["fixed", "교정"],
    broken: ["broken", "손상"],
    injected: ["memory shown", "메모리 제시"],
    blocked: ["advice blocked", "조언 차단"],
  },
};

/** A code in words; a code without words is shown with spaces for underscores and left untranslated. */
function inWords(kind, code) {
  const known = WORDS[kind][code];
  return known ? say(...known) : el("span", { translate: "no" }, code.replaceAll("_", " "));
}
