// One sample under one condition, section by section. Each section names its content, so that two can be compared.

const pairOf = (tuple) => `${tuple.n ?? tuple.t}|${tuple.p}`;

function polarityMark(polarity) {
  const known = POLARITY[polarity];
  if (!known) return el("span", { class: "polarity" }, polarity || say("no polarity", "극성 없음"));
  return el("span", { class: `polarity ${known.class}` }, el("span", { "aria-hidden": "true" }, `${known.sign} `), say(...known.words));
}

const termOf = (term, language) => (term ? quoted(term, language) : el("i", { class: "implicit" }, say("implicit", "암시적")));
const code = (text) => el("code", {}, text);
const none = (text) => el("p", { class: "none" }, text);

/** The items with a separator between them. */
const joined = (items, separator) => items.flatMap((item, place) => (place ? [separator, item] : [item]));

const LONGEST_REVIEW = 5000;

/** The text with the spans of the tuples marked. Of a very long text the beginning, until the reader asks for the rest. */
function reviewText(text, tuples, language) {
  const chars = Array.from(text);
  if (chars.length <= LONGEST_REVIEW) return markedText(chars, tuples, language);
  const box = el("div", {});
  const rest = el("button", { type: "button", class: "chip", on: { click: () => box.replaceChildren(markedText(chars, tuples, language)) } },
    say(`show all ${counted(chars.length)} characters`, `${counted(chars.length)}자 모두 보기`));
  const within = tuples.filter(({ s: span }) => span).map((tuple) => ({ ...tuple, s: tuple.s.map((at) => Math.min(at, LONGEST_REVIEW)) }));
  box.append(markedText(chars.slice(0, LONGEST_REVIEW), within, language), rest);
  return box;
}

/** The characters with the spans of the tuples marked. Spans count code points, as everywhere in the project. */
function markedText(chars, tuples, language) {
  const marked = tuples.filter(({ s: span }) => span && span[0] < span[1] && span[1] <= chars.length);
  const cuts = [...new Set([0, chars.length, ...marked.flatMap((tuple) => tuple.s)])].sort((x, y) => x - y);
  const node = el("p", { class: "review", dir: "auto", lang: language });
  for (let place = 0; place + 1 < cuts.length; place += 1) {
    const [start, end] = [cuts[place], cuts[place + 1]];
    const piece = chars.slice(start, end).join("");
    const covering = marked.filter(({ s: span }) => span[0] <= start && end <= span[1]);
    const polarities = [...new Set(covering.map((tuple) => tuple.p))];
    if (!polarities.length) { node.append(piece); continue; }
    const known = POLARITY[polarities.length > 1 ? "mixed" : polarities[0]];
    const words = polarities.map((polarity) => (POLARITY[polarity] ? say(...POLARITY[polarity].words) : polarity)).join(", ");
    node.append(el("mark", { class: known?.class, title: words },
      el("span", { class: "sign", "aria-hidden": "true" }, known?.sign), piece, hidden(` (${words})`)));
  }
  return node;
}

/**
 * The tuples of one stage, marked by sets of pairs: right or wrong by `gold`, missed by `predicted`, only on this side
 * by `other`.
 */
function tupleList(tuples, { language, gold = null, predicted = null, other = null }) {
  if (!tuples.length) return none(say("none", "없음"));
  return el("ul", { class: "tuples" }, tuples.map((tuple) => {
    const isOnly = other && !other.has(pairOf(tuple));
    return el("li", { class: isOnly ? "only" : null },
      termOf(tuple.t, language), " ", polarityMark(tuple.p),
      tuple.c === undefined ? null : el("span", { class: "confidence" }, number(tuple.c)),
      tuple.b ? el("span", { class: "tag" }, say("backfilled", "보충")) : null,
      gold && !tuple.b ? goldMark(gold.has(pairOf(tuple))) : null,
      predicted && !predicted.has(pairOf(tuple)) ? el("span", { class: "miss" }, say("missed", "누락")) : null,
      isOnly ? hidden(say(" only in this condition", " 이 조건에만 있음")) : null);
  }));
}

function goldMark(isRight) {
  return el("span", { class: isRight ? "hit" : "miss" }, isRight ? "✓" : "✗", hidden(isRight ? say(" in gold", " 정답에 있음") : say(" not in gold", " 정답에 없음")));
}

const pairs = (tuples) => new Set(tuples.filter((tuple) => !tuple.b).map(pairOf));

function resultSection(sample, context) {
  const { analysis } = sample;
  const gold = context.gold ? pairs(context.gold) : null;
  const [label1, , label] = analysis.labels;
  const other = context.other ? pairs(context.other.analysis.final) : null;
  const column = (title, polarity, list) => el("div", {}, el("h5", {}, title), list,
    polarity === undefined ? null : el("p", { class: "label" }, say("label ", "문장 "), polarityMark(polarity)));
  return el("div", { class: "stages" },
    column("Stage1", label1, tupleList(analysis.s1, { language: context.language, gold })),
    column(say("Final", "최종"), label, tupleList(analysis.final, { language: context.language, gold, other })),
    column(say("Gold", "정답"), undefined, context.gold
      ? tupleList(context.gold, { language: context.language, predicted: pairs(analysis.final) })
      : none(say("no gold", "정답 없음"))));
}

function table(head, rows) {
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, head.map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el("td", { "data-h": head[place] }, cell)))))));
}

function risksSection({ analysis }, { language }) {
  const [before, after] = analysis.severity;
  const sums = before === null ? null : el("p", {}, `${say("severity sum", "심각도 합")} ${before} → ${after ?? "–"}`);
  if (!analysis.risks.length) return [none(say("no risk was reported", "보고된 위험이 없습니다")), before ? sums : null];
  const rows = analysis.risks.map(([type, severity, fate, description]) =>
    [code(type), el("span", {}, inWords("severity", severity), ", ", inWords("fate", fate)), quoted(description, language)]);
  return [sums, table([say("risk", "위험"), say("severity, status", "심각도, 상태"), say("description", "설명")], rows)];
}

function gateLine(name, gate) {
  const isOpen = gate.reasons.length > 0;
  return el("li", {},
    el("b", {}, say(`${name} gate `, `${name} 게이트 `)),
    el("span", { class: isOpen ? "open" : "shut" }, isOpen ? say("open", "열림") : say("closed", "닫힘")), ": ",
    isOpen ? joined(gate.reasons.map(code), ", ") : say("no reason", "사유 없음"),
    gate.chars > 0
      ? say(`; ${counted(gate.chars)} characters shown`, `; ${counted(gate.chars)}자 제시`)
      : say("; nothing shown", "; 제시하지 않음"),
    gate.skip ? [": ", inWords("skip", gate.skip), " ", code(gate.skip)] : null);
}

function advice(advisory) {
  const facts = [
    inWords("advice", advisory.type), inWords("strength", advisory.strength), `${say("relevance", "관련도")} ${number(advisory.relevance)}`,
    advisory.sources.length ? [say("from ", "출처 "), joined(advisory.sources.map(code), ", ")] : null,
    advisory.shown ? say("shown", "제시됨") : say("not shown", "제시하지 않음")].filter((fact) => fact !== null);
  return el("blockquote", { class: advisory.shown ? "advice" : "advice unseen" },
    el("p", {}, quoted(advisory.message)), el("footer", {}, code(advisory.principle), " ", joined(facts, " · ")));
}

function withheldLine(blocked) {
  const words = {
    episodes: (n) => say(`${n} episodes blocked`, `에피소드 ${n}개 차단`),
    advisories: (n) => say(`${n} advisories blocked`, `조언 ${n}개 차단`),
    demoted: (n) => say(`${n} demoted`, `${n}개 강등`),
    firewall: (n) => say(`${n} dropped by the label firewall`, `라벨 방화벽이 ${n}개 제거`),
    repeated: (n) => say(`${n} repeated a principle`, `원칙이 겹치는 조언 ${n}개 제외`),
    opposed: (n) => say(`${n} asked for the opposite`, `반대되는 조언 ${n}개 제외`),
  };
  const counts = Object.entries(blocked).filter(([, n]) => n > 0).map(([kind, n]) => words[kind](n));
  return counts.length ? el("li", {}, el("b", {}, say("withheld ", "차단 ")), counts.join("; ")) : null;
}

function storeLine([decision, skip, tags, episode]) {
  return el("p", {}, el("b", {}, say("own episode ", "이 샘플의 에피소드 ")), inWords("stored", decision), episode ? [" ", code(episode)] : null,
    skip ? [": ", inWords("store", skip)] : null, tags.length ? [" (", joined(tags.map(code), ", "), ")"] : null);
}

function memorySection({ memory }) {
  if (!memory) return none(say("no memory record", "메모리 기록이 없습니다"));
  const gates = [gateLine(say("debate", "토론"), memory.debate), gateLine("Stage2", memory.stage2)];
  if (!memory.calls) return [none(say("nothing was retrieved in this condition", "이 조건에서는 검색하지 않습니다")), el("ul", { class: "plain" }, gates)];
  return [
    el("ul", { class: "plain" },
      gates,
      el("li", {}, el("b", {}, say("retrieved ", "검색됨 ")), memory.ids.length ? joined(memory.ids.map(code), ", ") : say("nothing", "없음"),
        memory.slots.length ? [say("; read by ", "; 읽은 역할 "), joined(memory.slots.map(code), ", ")] : ""),
      withheldLine(memory.blocked),
      memory.followed === null ? null : el("li", {}, el("b", {}, say("advice expects ", "조언의 기대 ")), memory.expects ? inWords("expects", memory.expects) : say("nothing", "없음"),
        memory.followed ? say(": followed", ": 따름") : say(": not followed", ": 따르지 않음"),
        say(" (descriptive, not causal)", " (기술 통계이며 인과 관계가 아님)"))),
    memory.advisories.map(advice),
    memory.warnings.length ? el("ul", { class: "plain" }, memory.warnings.map((warning) => el("li", {}, say("warning: ", "경고: "), code(warning)))) : null,
    memory.store ? storeLine(memory.store) : null,
  ];
}

function edit([op, term, polarity, value, evidence, confidence], language) {
  return [
    code(op), " ", termOf(term, language),
    polarity ? [" ", polarityMark(polarity)] : null,
    value ? [" → ", POLARITY[value] ? polarityMark(value) : quoted(value, language)] : null,
    evidence ? [" “", quoted(evidence, language), "”"] : null,
    confidence === null || confidence === undefined ? null : el("span", { class: "confidence" }, number(confidence)),
  ];
}

/** How far an adaptive pipeline asked, and why. */
const reachLine = (reach) => el("p", {}, el("b", {}, say("asked ", "질문 범위 ")), inWords("reach", reach));

function debateSection({ analysis }, { language }) {
  const { debate, reach } = analysis;
  if (!debate) return [reach ? reachLine(reach) : null, none(say("no debate", "토론 없음"))];
  const edits = (list) => (list.length ? joined(list.map((fields) => edit(fields, language)), "; ") : say("no edit", "수정 없음"));
  const name = (speaker, round) => [inWords("speaker", speaker), round > 1 ? ` (${round}) ` : " "];
  return [
    reach ? reachLine(reach) : null,
    el("ul", { class: "plain" },
      debate.turns.map(([round, speaker, list]) => el("li", {}, el("b", {}, name(speaker, round)), edits(list))),
      el("li", {}, el("b", {}, say("judge ", "판정자 ")), edits(debate.patch), debate.label ? [say(" · sentence ", " · 문장 "), polarityMark(debate.label)] : null)),
    debate.rationale ? el("p", { class: "rationale" }, quoted(debate.rationale, language)) : null,
  ];
}

/** Only seed rules have an override gate. */
const stage2Title = (samples) => (samples.every(({ sample }) => sample.analysis.candidates)
  ? say("Stage2 verdicts", "Stage2 판정") : say("Stage2 verdicts and override", "Stage2 판정과 오버라이드"));

function fateOf(accepted, why) {
  if (accepted) return say("accepted", "수용");
  if (accepted === null) return "–";
  const rejected = say("rejected", "거부");
  return why ? el("span", {}, `${rejected}: `, code(why)) : rejected;
}

function verdictSection({ analysis }, { language }) {
  const { reviews: verdicts } = analysis;
  if (!verdicts) return none(say("no Stage2", "Stage2 없음"));
  const kept = say(`${verdicts.kept} kept unchanged`, `${verdicts.kept}개 유지`);
  const changes = verdicts.rows.map(([kind, term, action, polarity, reason, accepted, why]) => [
    inWords("verdict", kind), termOf(term, language), el("span", {}, code(action), polarity ? [" ", polarityMark(polarity)] : null),
    fateOf(accepted, why), quoted(reason, language)]);
  // The rows of the verdicts show their own outcome; this list has the other steps of the patch.
  const others = analysis.patches.filter(([step]) => step !== "ate_review" && step !== "atsa_review");
  const decisions = analysis.overrides.map(([term, pos, neg, target, decision, reason]) => [
    termOf(term, language), number(pos, 1), number(neg, 1), decision === "APPLY" ? el("span", {}, say("apply ", "적용 "), polarityMark(target)) : say("skip", "건너뜀"),
    reason ? el("span", {}, inWords("override", reason), " ", code(reason)) : ""]);
  return [
    changes.length ? table([say("verdict", "판정"), say("aspect", "속성"), say("action", "조치"), say("outcome", "결과"), say("reason", "이유")], changes)
      : none(verdicts.kept ? `${say("no change", "변경 없음")}; ${kept}` : say("no verdict", "판정 없음")),
    changes.length ? none(kept) : null,
    others.length ? el("ul", { class: "plain" }, others.map(([step, what, term, isApplied, reason]) => el("li", {},
      inWords("step", step), " ", code(what), " ", term ? quoted(term, language) : null,
      isApplied ? say(" applied", " 적용됨") : say(" not applied", " 적용하지 않음"), reason ? [": ", quoted(reason)] : null))) : null,
    decisions.length ? table([say("override gate", "오버라이드 게이트"), say("for +", "긍정 근거"), say("for −", "부정 근거"), say("decision", "결정"), say("why", "이유")], decisions) : null,
  ];
}

/** The witnesses of one stance, each with its probability and its quote, as far as it states them. */
function witnessesOf(witnesses, stance, language) {
  const named = witnesses.filter(([, taken]) => taken === stance).map(([who, , quote, p]) => [
    inWords("witness", who), p === null ? null : el("span", { class: "confidence" }, number(p)),
    quote ? [" “", quoted(quote, language), "”"] : null]);
  return named.length ? joined(named, "; ") : "–";
}

const fateOfPair = (isOfStage1, isIn) => (isIn
  ? el("b", {}, isOfStage1 ? say("kept", "유지") : say("added", "추가"))
  : el("span", {}, isOfStage1 ? say("dropped", "삭제") : say("left out", "제외")));

/** Rules v3 weigh every pair that anybody named. */
function candidatesSection({ analysis }, { language }) {
  const { candidates, tau } = analysis;
  if (!candidates) return none(say("seed rules weigh no candidates", "seed 규칙은 후보를 저울질하지 않습니다"));
  if (!candidates.length) return none(say("nobody names a pair", "제시된 쌍이 없습니다"));
  return [
    el("p", { class: "num" }, say(`in from p ${number(tau)} on`, `p ${number(tau)}부터 채택`)),
    table([say("pair", "쌍"), "p", say("decision", "결정"), say("for", "찬성"), say("against", "반대")], candidates.map(
      ([term, polarity, p, isOfStage1, isIn, reason, witnesses]) => [
        el("span", {}, termOf(term, language), " ", polarityMark(polarity)),
        number(p),
        el("span", {}, fateOfPair(isOfStage1, isIn), ": ", inWords("candidate", reason), " ", code(reason)),
        el("span", {}, witnessesOf(witnesses, "for", language)),
        el("span", {}, witnessesOf(witnesses, "against", language))])),
  ];
}

/** The parts of the evidence value as a stacked bar, with the threshold. */
function evBar({ parts, ev, threshold }) {
  const width = 260;
  let from = 0;
  const pieces = parts.map(([name, , worth], place) => {
    const piece = svgEl("rect", { x: from * width, y: 6, width: Math.max(worth * width, 0), height: 12, class: `ev ev${place}` });
    from += worth;
    return worth > 0 ? piece : null;
  });
  return svgEl("svg", { viewBox: `0 0 ${width} 24`, width, height: 24, class: "plot", role: "img" },
    svgEl("title", {}, say(`evidence value ${number(ev, 3)} of 1, threshold ${number(threshold)}`, `근거 값 ${number(ev, 3)} / 1, 기준 ${number(threshold)}`)),
    svgEl("rect", { x: 0, y: 6, width, height: 12, class: "track" }), pieces,
    svgEl("line", { x1: threshold * width, x2: threshold * width, y1: 1, y2: 23, class: "median" }));
}

function adoptionSection({ analysis }) {
  const { adoption, moderator } = analysis;
  if (!adoption) return none(say("nothing was decided", "결정된 것이 없습니다"));
  const key = (place) => svgEl("svg", { width: 10, height: 10, "aria-hidden": "true" },
    svgEl("rect", { width: 10, height: 10, class: `ev ev${place}` }));
  return [
    el("p", {}, el("b", {}, adoption.adopt ? say("adopted", "채택") : say("not adopted", "채택하지 않음")), ": ", inWords("adopt", adoption.reason), " ", code(adoption.reason)),
    el("div", { class: "ev-row" }, evBar(adoption),
      el("span", { class: "num" }, `EV ${number(adoption.ev, 3)}, ${say("threshold", "기준")} ${number(adoption.threshold)}`)),
    el("ul", { class: "ev-parts" }, adoption.parts.map(([name, weight, worth], place) => el("li", {},
      key(place), " ", inWords("ev", name), " ", el("span", { class: "num" }, `${number(worth, 3)} / ${number(weight, 1)}`)))),
    moderator ? el("p", {}, el("b", {}, say("moderator ", "조정자 ")),
      joined(moderator.rules.map((rule) => [code(rule), " ", inWords("rule", rule)]), " → "),
      say("; label from ", "; 문장 극성의 출처 "), inWords("source", moderator.source),
      say(", tuples of ", ", 튜플의 출처 "), inWords("source", moderator.stage),
      `${say(", confidence ", ", 확신도 ")}${number(moderator.confidence)}`) : null,
  ];
}

const duration = (ms) => (ms >= 1000 ? `${number(ms / 1000, 1)} s` : `${number(ms, 1)} ms`);

/** The time is that of the answers; waiting stands beside it. */
function costSection({ cost: [calls, tokensIn, tokensOut, ms, waited] }) {
  return el("p", { class: "num" },
    say(`${counted(calls)} calls · ${counted(tokensIn)} tokens in · ${counted(tokensOut)} out`,
      `호출 ${counted(calls)}회 · 입력 토큰 ${counted(tokensIn)} · 출력 토큰 ${counted(tokensOut)}`),
    ms === null ? null : ` · ${duration(ms)}`,
    waited ? say(`, and ${duration(waited)} of waiting`, `, 대기 ${duration(waited)}`) : null);
}

/**
 * `content` is the data that a section shows; two samples with equal content share one section. A section with `applies`
 * is left out if it applies to no sample. A title is two texts, or a function of the samples.
 */
const SECTIONS = [
  { title: ["Stage1, final, gold", "Stage1, 최종, 정답"], body: resultSection, content: ({ analysis }) => [analysis.s1, analysis.final, analysis.labels] },
  { title: ["Risks", "위험"], body: risksSection, content: ({ analysis }) => [analysis.risks, analysis.severity] },
  { title: ["Memory and gates", "메모리와 게이트"], body: memorySection, content: ({ memory }) => memory },
  { title: ["Debate", "토론"], body: debateSection, content: ({ analysis }) => [analysis.debate, analysis.reach] },
  { title: stage2Title, body: verdictSection, content: ({ analysis }) => [analysis.reviews, analysis.patches, analysis.overrides] },
  { title: ["Candidates", "후보"], body: candidatesSection, content: ({ analysis }) => analysis.candidates, applies: ({ analysis }) => Boolean(analysis.candidates) },
  { title: ["Adoption and moderator", "채택과 조정자"], body: adoptionSection, content: ({ analysis }) => [analysis.adoption, analysis.moderator] },
  { title: ["Calls", "호출"], body: costSection, content: ({ cost }) => cost, quiet: true },
];
