// A sample under one condition or under two: equal sections appear once, different ones side by side.

function emptyPane() {
  return el("p", { class: "hint" }, "Choose a sample to read how it was analysed.");
}

function failure(sample) {
  const [type, stage, message] = sample.analysis.error || ["error", "", ""];
  return el("p", { class: "failure", role: "note" },
    el("b", {}, "failed "), code(type), stage ? ` in ${stage}` : "", message ? [": ", quoted(message)] : null);
}

function heading(row, data) {
  const facts = [row.language, row.domain, row.caseType].filter((fact) => fact && fact !== "unknown");
  return el("header", { class: "sample-head" },
    el("h3", { id: "sample-title", tabindex: "-1" }, quoted(row.uid)),
    el("p", { class: "facts" }, facts.join(" · "), data.hasText ? null : `${facts.length ? " · " : ""}without text`));
}

/** The text with its aspects marked; buttons choose the tuples whose aspects are marked. */
function textSection(row, samples, gold, data) {
  if (!data.hasText) return null;
  const layers = samples.map(({ name, sample }) =>
    ({ label: samples.length > 1 ? `final ${name}` : "final", tuples: sample.analysis.final }));
  layers.push({ label: "Stage1", tuples: samples[0].sample.analysis.s1 });
  if (gold) layers.push({ label: "gold", tuples: gold });
  const box = el("div", {}, markedText(row.text, layers[0].tuples, row.lang));
  const buttons = layers.map((layer, place) => el("button", {
    type: "button", class: "chip", "aria-pressed": String(place === 0),
    on: { click: (event) => {
      box.replaceChildren(markedText(row.text, layer.tuples, row.lang));
      for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
    } },
  }, layer.label));
  return el("div", { class: "text-box" }, box,
    el("div", { class: "layers no-print", role: "group", "aria-label": "Mark the aspects of" },
      el("span", { class: "muted" }, "mark "), buttons));
}

function sectionFor(section, samples, context) {
  const contents = samples.map(({ sample }) => JSON.stringify(section.content(sample)));
  const same = contents.every((content) => content === contents[0]);
  const body = (place) => section.body(samples[place].sample, { ...context, other: same ? null : samples[1 - place].sample });
  const title = el("h4", {}, section.title,
    samples.length > 1 ? el("span", { class: same ? "tag" : "tag differs" }, same ? "same in both" : "≠ differs") : null);
  if (same) return el("section", { class: "part" }, title, el("div", {}, body(0)));
  return el("section", { class: "part differing" }, title, el("div", { class: "beside" },
    samples.map(({ name }, place) =>
      el("div", { class: "side", role: "group", "aria-label": name }, el("p", { class: "side-name" }, name), body(place)))));
}

async function samplePage(data, row, query) {
  const review = await data.details(row);
  const a = data.cellOf(query.a, query.seed);
  const b = query.b && query.b !== query.a ? data.cellOf(query.b, query.seed) : -1;
  const samples = [[query.a, a], [query.b, b]]
    .map(([name, cell]) => ({ name, sample: review.in(cell) }))
    .filter(({ sample }) => sample);
  const without = [[query.a, a], [query.b, b]].filter(([, cell]) => cell >= 0 && !review.in(cell));
  const missing = [...notRun(data, query), ...without.map(([name]) => `${name} does not have this sample`)]
    .map((words) => el("p", { class: "notes", role: "note" }, words));
  if (!samples.length) return [heading(row, data), ...missing];
  const context = { gold: review.gold, language: row.lang };
  const parts = [heading(row, data), ...missing, textSection(row, samples, review.gold, data)];
  const failed = samples.filter(({ sample }) => sample.analysis.status === "error");
  for (const { name, sample } of failed) {
    parts.push(el("div", {}, samples.length > 1 ? el("p", { class: "side-name" }, name) : null, failure(sample)));
  }
  if (failed.length < samples.length) {
    const shown = SECTIONS.filter(({ applies }) => !applies || samples.some(({ sample }) => applies(sample)));
    for (const section of shown) parts.push(sectionFor(section, samples, context));
  } else {
    parts.push(sectionFor(SECTIONS.at(-1), samples, context));
  }
  return parts;
}
