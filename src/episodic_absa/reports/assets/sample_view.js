// One sample in one condition, section by section. Each section tells what it rests on, so that two can be compared.

const pairOf = (one) => `${one.n ?? one.t}|${one.p}`;

function polarityMark(polarity) {
  const known = POLARITY[polarity];
  if (!known) return el("span", { class: "polarity" }, polarity || "no polarity");
  return el("span", { class: `polarity ${known.class}` }, el("span", { "aria-hidden": "true" }, `${known.sign} `), polarity);
}

const termOf = (term, language) => (term ? quoted(term, language) : el("i", { class: "implicit" }, "implicit"));
const code = (text) => el("code", {}, text);
const none = (text) => el("p", { class: "none" }, text);

/** Put something between the items: commas, arrows. */
const joined = (items, between) => items.flatMap((one, place) => (place ? [between, one] : [one]));

/** Cut the text where marks begin and end; spans count code points, as everywhere in the project. */
function markedText(text, tuples, language) {
  const chars = Array.from(text);
  const spans = tuples.filter((one) => one.s && one.s[0] < one.s[1] && one.s[1] <= chars.length);
  const cuts = [...new Set([0, chars.length, ...spans.flatMap((one) => one.s)])].sort((x, y) => x - y);
  const node = el("p", { class: "review", dir: "auto", lang: language });
  for (let place = 0; place + 1 < cuts.length; place += 1) {
    const [start, end] = [cuts[place], cuts[place + 1]];
    const piece = chars.slice(start, end).join("");
    const over = spans.filter((one) => one.s[0] <= start && end <= one.s[1]);
    const polarities = [...new Set(over.map((one) => one.p))];
    if (!polarities.length) { node.append(piece); continue; }
    const known = POLARITY[polarities.length > 1 ? "mixed" : polarities[0]];
    node.append(el("mark", { class: known?.class, title: polarities.join(", ") },
      el("span", { class: "sign", "aria-hidden": "true" }, known?.sign), piece, hidden(` (${polarities.join(", ")})`)));
  }
  return node;
}

/** The tuples of one stage; `gold` marks right and wrong, `found` what was missed, `other` what only this side has. */
function tupleList(tuples, { language, gold = null, found = null, other = null }) {
  if (!tuples.length) return none("none");
  return el("ul", { class: "tuples" }, tuples.map((one) => {
    const isOnly = other && !other.has(pairOf(one));
    return el("li", { class: isOnly ? "only" : null },
      termOf(one.t, language), " ", polarityMark(one.p),
      one.c === undefined ? null : el("span", { class: "confidence" }, number(one.c)),
      one.b ? el("span", { class: "tag" }, "filled in") : null,
      gold && !one.b ? goldMark(gold.has(pairOf(one))) : null,
      found && !found.has(pairOf(one)) ? el("span", { class: "miss" }, "missed") : null,
      isOnly ? hidden(" only in this condition") : null);
  }));
}

function goldMark(isRight) {
  return el("span", { class: isRight ? "hit" : "miss" }, isRight ? "✓" : "✗", hidden(isRight ? " in gold" : " not in gold"));
}

const pairs = (tuples) => new Set(tuples.filter((one) => !one.b).map(pairOf));

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
      ? tupleList(context.gold, { language: context.language, found: pairs(analysis.final) })
      : none("no gold")));
}

function table(head, rows) {
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, head.map((one) => el("th", { scope: "col" }, one)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((one) => el("td", {}, one)))))));
}

function risksSection({ analysis }, { language }) {
  const [before, after] = analysis.severity;
  const sums = before === null ? null : el("p", {}, `summed severity ${before} → ${after ?? "–"}`);
  if (!analysis.risks.length) return [none("no risk was named"), before ? sums : null];
  const rows = analysis.risks.map(([type, severity, fate, description]) =>
    [code(type), `${severity}, ${fate}`, quoted(description, language)]);
  return [sums, table(["risk", "severity, fate", "description"], rows)];
}

function gateLine(name, gate) {
  const isOpen = gate.reasons.length > 0;
  return el("li", {},
    el("b", {}, `${name} gate `), el("span", { class: isOpen ? "open" : "shut" }, isOpen ? "open" : "closed"), ": ",
    isOpen ? joined(gate.reasons.map(code), ", ") : "no reason",
    gate.chars > 0 ? `; ${gate.chars.toLocaleString("en")} characters shown` : "; nothing shown",
    gate.skip ? [": ", inWords("skip", gate.skip), " ", code(gate.skip)] : null);
}

function advice(one) {
  const facts = [one.type.replaceAll("_", " "), one.strength, `relevance ${number(one.relevance)}`,
    `from ${one.sources.join(", ")}`, one.shown ? "shown" : "not shown"];
  return el("blockquote", { class: one.shown ? "advice" : "advice unseen" },
    el("p", {}, one.message), el("footer", {}, code(one.principle), ` ${facts.join(" · ")}`));
}

function withheldLine(blocked) {
  const words = {
    episodes: "episodes blocked", advisories: "advisories blocked", demoted: "demoted", firewall: "dropped by the label firewall",
  };
  const told = Object.entries(blocked).filter(([, n]) => n > 0).map(([what, n]) => `${n} ${words[what]}`);
  return told.length ? el("li", {}, el("b", {}, "withheld "), told.join("; ")) : null;
}

function storeLine([decision, skip, tags, episode]) {
  return el("p", {}, el("b", {}, "own episode "), decision, episode ? [" as ", code(episode)] : null,
    skip ? `: ${inWords("store", skip)}` : null, tags.length ? ` (${tags.join(", ")})` : null);
}

function memorySection({ memory }) {
  if (!memory) return none("no record of memory");
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
    memory.warnings.length ? el("ul", { class: "plain" }, memory.warnings.map((one) => el("li", {}, `warning: ${one}`))) : null,
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
  const edits = (list) => (list.length ? joined(list.map((one) => edit(one, language)), "; ") : "no edit");
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

function reviewSection({ analysis }, { language }) {
  const { reviews } = analysis;
  if (!reviews) return none("no second stage");
  const kept = `${reviews.kept} kept as they were`;
  const asked = reviews.rows.map(([kind, term, action, polarity, reason, accepted, why]) => [
    kind, termOf(term, language), el("span", {}, code(action), polarity ? [" ", polarityMark(polarity)] : null),
    fateOf(accepted, why), quoted(reason, language)]);
  // What became of reviews stands in their rows; the rest of the patch is told here.
  const others = analysis.patches.filter(([step]) => step !== "ate_review" && step !== "atsa_review");
  const decisions = analysis.overrides.map(([term, pos, neg, target, decision, reason]) => [
    termOf(term, language), number(pos, 1), number(neg, 1), decision === "APPLY" ? `apply ${target}` : "skip",
    reason ? el("span", {}, inWords("override", reason), " ", code(reason)) : ""]);
  return [
    asked.length ? table(["review", "aspect", "action", "outcome", "reason"], asked) : none(`no change was asked for; ${kept}`),
    asked.length ? none(kept) : null,
    others.length ? el("ul", { class: "plain" }, others.map(([step, what, term, isApplied, reason]) => el("li", {},
      `${step.replaceAll("_", " ")} `, code(what), " ", term ? quoted(term, language) : null,
      isApplied ? " applied" : " not applied", reason ? `: ${reason}` : null))) : null,
    decisions.length ? table(["override gate", "for +", "for −", "decision", "why"], decisions) : null,
  ];
}

/** The evidence value as what it is made of, against the threshold. */
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

/** `rests` is what two samples must share for the section to be shown once. */
const SECTIONS = [
  { title: "Stage1, final, gold", body: resultSection, rests: ({ analysis }) => [analysis.s1, analysis.final, analysis.labels] },
  { title: "Risks", body: risksSection, rests: ({ analysis }) => [analysis.risks, analysis.severity] },
  { title: "Memory and gates", body: memorySection, rests: ({ memory }) => memory },
  { title: "Debate", body: debateSection, rests: ({ analysis }) => analysis.debate },
  { title: "Stage2 review and override", body: reviewSection, rests: ({ analysis }) => [analysis.reviews, analysis.patches, analysis.overrides] },
  { title: "Adoption and moderator", body: adoptionSection, rests: ({ analysis }) => [analysis.adoption, analysis.moderator] },
  { title: "Calls", body: costSection, rests: ({ cost }) => cost, quiet: true },
];
