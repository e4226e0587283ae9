// One sample under one condition, section by section. Each section names its content, so that two can be compared.

const pairOf = (tuple) => `${tuple.n ?? tuple.t}|${tuple.p}`;

function polarityMark(polarity) {
  const known = POLARITY[polarity];
  if (!known) return el("span", { class: "polarity" }, polarity || "no polarity");
  return el("span", { class: `polarity ${known.class}` }, el("span", { "aria-hidden": "true" }, `${known.sign} `), polarity);
}

const termOf = (term, language) => (term ? quoted(term, language) : el("i", { class: "implicit" }, "implicit"));
const code = (text) => el("code", {}, text);
const none = (text) => el("p", { class: "none" }, text);

/** The items with a separator between them. */
const joined = (items, separator) => items.flatMap((item, place) => (place ? [separator, item] : [item]));

/** The text with the spans of the tuples marked. Spans count code points, as everywhere in the project. */
function markedText(text, tuples, language) {
  const chars = Array.from(text);
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
    node.append(el("mark", { class: known?.class, title: polarities.join(", ") },
      el("span", { class: "sign", "aria-hidden": "true" }, known?.sign), piece, hidden(` (${polarities.join(", ")})`)));
  }
  return node;
}

/**
 * The tuples of one stage, marked by sets of pairs: right or wrong by `gold`, missed by `predicted`, only on this side
 * by `other`.
 */
function tupleList(tuples, { language, gold = null, predicted = null, other = null }) {
  if (!tuples.length) return none("none");
  return el("ul", { class: "tuples" }, tuples.map((tuple) => {
    const isOnly = other && !other.has(pairOf(tuple));
    return el("li", { class: isOnly ? "only" : null },
      termOf(tuple.t, language), " ", polarityMark(tuple.p),
      tuple.c === undefined ? null : el("span", { class: "confidence" }, number(tuple.c)),
      tuple.b ? el("span", { class: "tag" }, "backfilled") : null,
      gold && !tuple.b ? goldMark(gold.has(pairOf(tuple))) : null,
      predicted && !predicted.has(pairOf(tuple)) ? el("span", { class: "miss" }, "missed") : null,
      isOnly ? hidden(" only in this condition") : null);
  }));
}

function goldMark(isRight) {
  return el("span", { class: isRight ? "hit" : "miss" }, isRight ? "✓" : "✗", hidden(isRight ? " in gold" : " not in gold"));
}

const pairs = (tuples) => new Set(tuples.filter((tuple) => !tuple.b).map(pairOf));

function resultSection(sample, context) {
  const { analysis } = sample;
  const gold = context.gold ? pairs(context.gold) : null;
  const [label1, , label] = analysis.labels;
  const other = context.other ? pairs(context.other.analysis.final) : null;
  const column = (title, polarity, list) => el("div", {}, el("h5", {}, title), list,
    polarity === undefined ? null : el("p", { class: "label" }, "label ", polarityMark(polarity)));
  return el("div", { class: "stages" },
    column("Stage1", label1, tupleList(analysis.s1, { language: context.language, gold })),
    column("Final", label, tupleList(analysis.final, { language: context.language, gold, other })),
    column("Gold", undefined, context.gold
      ? tupleList(context.gold, { language: context.language, predicted: pairs(analysis.final) })
      : none("no gold")));
}

function table(head, rows) {
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, head.map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));
}

function risksSection({ analysis }, { language }) {
  const [before, after] = analysis.severity;
  const sums = before === null ? null : el("p", {}, `severity sum ${before} → ${after ?? "–"}`);
  if (!analysis.risks.length) return [none("no risk was reported"), before ? sums : null];
  const rows = analysis.risks.map(([type, severity, fate, description]) =>
    [code(type), `${severity}, ${fate}`, quoted(description, language)]);
  return [sums, table(["risk", "severity, status", "description"], rows)];
}

function gateLine(name, gate) {
  const isOpen = gate.reasons.length > 0;
  return el("li", {},
    el("b", {}, `${name} gate `), el("span", { class: isOpen ? "open" : "shut" }, isOpen ? "open" : "closed"), ": ",
    isOpen ? joined(gate.reasons.map(code), ", ") : "no reason",
    gate.chars > 0 ? `; ${gate.chars.toLocaleString("en")} characters shown` : "; nothing shown",
    gate.skip ? [": ", inWords("skip", gate.skip), " ", code(gate.skip)] : null);
}

function advice(advisory) {
  const facts = [advisory.type.replaceAll("_", " "), advisory.strength, `relevance ${number(advisory.relevance)}`,
    `from ${advisory.sources.join(", ")}`, advisory.shown ? "shown" : "not shown"];
  return el("blockquote", { class: advisory.shown ? "advice" : "advice unseen" },
    el("p", {}, advisory.message), el("footer", {}, code(advisory.principle), ` ${facts.join(" · ")}`));
}

function withheldLine(blocked) {
  const words = {
    episodes: "episodes blocked", advisories: "advisories blocked", demoted: "demoted", firewall: "dropped by the label firewall",
  };
  const counts = Object.entries(blocked).filter(([, n]) => n > 0).map(([kind, n]) => `${n} ${words[kind]}`);
  return counts.length ? el("li", {}, el("b", {}, "withheld "), counts.join("; ")) : null;
}

function storeLine([decision, skip, tags, episode]) {
  return el("p", {}, el("b", {}, "own episode "), decision, episode ? [" as ", code(episode)] : null,
    skip ? `: ${inWords("store", skip)}` : null, tags.length ? ` (${tags.join(", ")})` : null);
}

function memorySection({ memory }) {
  if (!memory) return none("no memory record");
  const gates = [gateLine("debate", memory.debate), gateLine("Stage2", memory.stage2)];
  if (!memory.calls) return [none("nothing was retrieved in this condition"), el("ul", { class: "plain" }, gates)];
  return [
    el("ul", { class: "plain" },
      gates,
      el("li", {}, el("b", {}, "retrieved "), memory.ids.length ? joined(memory.ids.map(code), ", ") : "nothing",
        memory.slots.length ? `; read by ${memory.slots.join(", ")}` : ""),
      withheldLine(memory.blocked),
      memory.followed === null ? null : el("li", {}, el("b", {}, "advice expects "), memory.expects || "nothing",
        memory.followed ? ": followed" : ": not followed", " (descriptive, not causal)")),
    memory.advisories.map(advice),
    memory.warnings.length ? el("ul", { class: "plain" }, memory.warnings.map((warning) => el("li", {}, `warning: ${warning}`))) : null,
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

function debateSection({ analysis }, { language }) {
  const { debate } = analysis;
  if (!debate) return none("no debate");
  const edits = (list) => (list.length ? joined(list.map((fields) => edit(fields, language)), "; ") : "no edit");
  const name = (speaker, round) => `${WORDS.speaker[speaker] || speaker}${round > 1 ? ` (${round})` : ""} `;
  return [
    el("ul", { class: "plain" },
      debate.turns.map(([round, speaker, list]) => el("li", {}, el("b", {}, name(speaker, round)), edits(list))),
      el("li", {}, el("b", {}, "judge "), edits(debate.patch), debate.label ? [" · sentence ", polarityMark(debate.label)] : null)),
    debate.rationale ? el("p", { class: "rationale" }, quoted(debate.rationale, language)) : null,
  ];
}

function fateOf(accepted, why) {
  if (accepted) return "accepted";
  if (accepted === null) return "–";
  return why ? `rejected: ${why.replaceAll("_", " ")}` : "rejected";
}

function verdictSection({ analysis }, { language }) {
  const { reviews: verdicts } = analysis;
  if (!verdicts) return none("no Stage2");
  const kept = `${verdicts.kept} kept unchanged`;
  const changes = verdicts.rows.map(([kind, term, action, polarity, reason, accepted, why]) => [
    kind, termOf(term, language), el("span", {}, code(action), polarity ? [" ", polarityMark(polarity)] : null),
    fateOf(accepted, why), quoted(reason, language)]);
  // The rows of the verdicts show their own outcome; this list has the other steps of the patch.
  const others = analysis.patches.filter(([step]) => step !== "ate_review" && step !== "atsa_review");
  const decisions = analysis.overrides.map(([term, pos, neg, target, decision, reason]) => [
    termOf(term, language), number(pos, 1), number(neg, 1), decision === "APPLY" ? `apply ${target}` : "skip",
    reason ? el("span", {}, inWords("override", reason), " ", code(reason)) : ""]);
  return [
    changes.length ? table(["verdict", "aspect", "action", "outcome", "reason"], changes) : none(`no change; ${kept}`),
    changes.length ? none(kept) : null,
    others.length ? el("ul", { class: "plain" }, others.map(([step, what, term, isApplied, reason]) => el("li", {},
      `${step.replaceAll("_", " ")} `, code(what), " ", term ? quoted(term, language) : null,
      isApplied ? " applied" : " not applied", reason ? `: ${reason}` : null))) : null,
    decisions.length ? table(["override gate", "for +", "for −", "decision", "why"], decisions) : null,
  ];
}

/** The witnesses of one stance, each with its quote or, for the reader, its probability. */
function witnessesOf(witnesses, stance, language) {
  const named = witnesses.filter(([, taken]) => taken === stance).map(([who, , quote, isAtHome, p]) => [
    inWords("witness", who), quote ? [" “", quoted(quote, language), "”", isAtHome ? " (at home)" : null] : null,
    p === null ? null : el("span", { class: "confidence" }, number(p))]);
  return named.length ? joined(named, "; ") : "–";
}

/** Rules v2 decide every change by its own witnesses. */
function changesSection({ analysis }, { language }) {
  const { changes } = analysis;
  if (!changes) return none("seed rules decide about all changes together");
  if (!changes.length) return none("nobody asks for a change");
  return table(["change", "aspect", "decision", "for", "against"], changes.map(
    ([kind, term, from, to, toTerm, isAdopted, reason, witnesses]) => [
      el("span", {}, code(kind), from ? [" ", polarityMark(from)] : null, to ? [" → ", polarityMark(to)] : null,
        toTerm ? [" → ", quoted(toTerm, language)] : null),
      termOf(term, language),
      isAdopted ? el("b", {}, "adopted") : el("span", {}, inWords("change", reason), " ", code(reason)),
      el("span", {}, witnessesOf(witnesses, "for", language)),
      el("span", {}, witnessesOf(witnesses, "against", language))]));
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
    svgEl("title", {}, `evidence value ${number(ev, 3)} of 1, threshold ${number(threshold)}`),
    svgEl("rect", { x: 0, y: 6, width, height: 12, class: "track" }), pieces,
    svgEl("line", { x1: threshold * width, x2: threshold * width, y1: 1, y2: 23, class: "median" }));
}

function adoptionSection({ analysis }) {
  const { adoption, moderator } = analysis;
  if (!adoption) return none("nothing was decided");
  const key = (place) => svgEl("svg", { width: 10, height: 10, "aria-hidden": "true" },
    svgEl("rect", { width: 10, height: 10, class: `ev ev${place}` }));
  return [
    el("p", {}, el("b", {}, adoption.adopt ? "adopted" : "not adopted"), `: ${inWords("adopt", adoption.reason)} `, code(adoption.reason)),
    el("div", { class: "ev-row" }, evBar(adoption),
      el("span", { class: "num" }, `EV ${number(adoption.ev, 3)}, threshold ${number(adoption.threshold)}`)),
    el("ul", { class: "ev-parts" }, adoption.parts.map(([name, weight, worth], place) => el("li", {},
      key(place), ` ${inWords("ev", name)} `, el("span", { class: "num" }, `${number(worth, 3)} of ${number(weight, 1)}`)))),
    moderator ? el("p", {}, el("b", {}, "moderator "),
      joined(moderator.rules.map((rule) => [code(rule), ` ${WORDS.rule[rule] || ""}`]), " → "),
      `; label from ${moderator.source}, tuples of ${moderator.stage}, confidence ${number(moderator.confidence)}`) : null,
  ];
}

function costSection({ cost: [calls, tokensIn, tokensOut, ms] }) {
  const format = (value) => value.toLocaleString("en");
  const time = ms >= 1000 ? `${number(ms / 1000, 1)} s` : `${number(ms, 1)} ms`;
  return el("p", { class: "num" },
    `${format(calls)} calls · ${format(tokensIn)} tokens in · ${format(tokensOut)} out`, ms === null ? null : ` · ${time}`);
}

/**
 * `content` is the data that a section shows; two samples with equal content share one section. A section with `applies`
 * is left out if it applies to no sample.
 */
const SECTIONS = [
  { title: "Stage1, final, gold", body: resultSection, content: ({ analysis }) => [analysis.s1, analysis.final, analysis.labels] },
  { title: "Risks", body: risksSection, content: ({ analysis }) => [analysis.risks, analysis.severity] },
  { title: "Memory and gates", body: memorySection, content: ({ memory }) => memory },
  { title: "Debate", body: debateSection, content: ({ analysis }) => analysis.debate },
  { title: "Stage2 verdicts and override", body: verdictSection, content: ({ analysis }) => [analysis.reviews, analysis.patches, analysis.overrides] },
  { title: "Changes", body: changesSection, content: ({ analysis }) => analysis.changes, applies: ({ analysis }) => Boolean(analysis.changes) },
  { title: "Adoption and moderator", body: adoptionSection, content: ({ analysis }) => [analysis.adoption, analysis.moderator] },
  { title: "Calls", body: costSection, content: ({ cost }) => cost, quiet: true },
];
