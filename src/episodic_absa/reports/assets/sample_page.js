// A sample under one condition or under two: equal sections appear once, different ones side by side.

function emptyPane() {
  return el("p", { class: "hint" }, say("Choose a sample to read how it was analysed.", "샘플을 선택하면 분석 과정을 볼 수 있습니다."));
}

const stageName = (stage) => el("span", { translate: "no" }, stage);

function failure(sample) {
  const [type, stage, message] = sample.analysis.error || ["error", "", ""];
  return el("p", { class: "failure", role: "note" },
    el("b", {}, say("failed ", "실패 ")), code(type), stage ? say([" in ", stageName(stage)], [", 단계 ", stageName(stage)]) : "",
    message ? [": ", quoted(message)] : null);
}

function heading(row, data) {
  const facts = [row.language, row.domain, row.caseType].filter((fact) => fact && fact !== "unknown");
  return el("header", { class: "sample-head" },
    el("h3", { id: "sample-title", tabindex: "-1" }, quoted(row.uid)),
    el("p", { class: "facts" }, el("span", { translate: "no" }, facts.join(" · ")),
      data.hasText ? null : `${facts.length ? " · " : ""}${say("without text", "본문 없음")}`));
}

/** The text with its aspects marked; buttons choose the tuples whose aspects are marked. */
function textSection(row, samples, gold, data) {
  if (!data.hasText) return null;
  const layers = samples.map(({ name, sample }) =>
    ({ label: [say("final", "최종"), samples.length > 1 ? el("span", { translate: "no" }, ` ${name}`) : null], tuples: sample.analysis.final }));
  layers.push({ label: "Stage1", tuples: samples[0].sample.analysis.s1 });
  if (gold) layers.push({ label: say("gold", "정답"), tuples: gold });
  const box = el("div", {}, reviewText(row.text, layers[0].tuples, row.lang));
  const buttons = layers.map((layer, place) => el("button", {
    type: "button", class: "chip", "aria-pressed": String(place === 0),
    on: { click: (event) => {
      box.replaceChildren(reviewText(row.text, layer.tuples, row.lang));
      for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
    } },
  }, layer.label));
  return el("div", { class: "text-box" }, box,
    el("div", { class: "layers no-print", role: "group", "aria-label": say("Mark the aspects of", "속성을 표시할 결과") },
      el("span", { class: "muted" }, say("mark ", "표시 ")), buttons));
}

function sectionFor(section, samples, context) {
  const contents = samples.map(({ sample }) => JSON.stringify(section.content(sample)));
  const same = contents.every((content) => content === contents[0]);
  const body = (place) => section.body(samples[place].sample, { ...context, other: same ? null : samples[1 - place].sample });
  const title = el("h4", {}, typeof section.title === "function" ? section.title(samples) : say(...section.title),
    samples.length > 1 ? el("span", { class: same ? "tag" : "tag differs" }, same ? say("same in both", "두 조건이 같음") : say("≠ differs", "≠ 다름")) : null);
  if (same) return el("section", { class: "part" }, title, el("div", {}, body(0)));
  return el("section", { class: "part differing" }, title, el("div", { class: "beside" },
    samples.map(({ name }, place) =>
      el("div", { class: "side", role: "group", "aria-label": name }, el("p", { class: "side-name", translate: "no" }, name), body(place)))));
}

async function samplePage(data, row, query) {
  const review = await data.details(row);
  const a = data.cellOf(query.a, query);
  const b = query.b && query.b !== query.a ? data.cellOf(query.b, query) : -1;
  const samples = [[query.a, a], [query.b, b]]
    .map(([name, cell]) => ({ name, sample: review.in(cell) }))
    .filter(({ sample }) => sample);
  const without = [[query.a, a], [query.b, b]].filter(([, cell]) => cell >= 0 && !review.in(cell));
  const missing = [...notRun(data, query), ...without.map(([name]) => say(`${name} does not have this sample`, `${name}에는 이 샘플이 없습니다`))]
    .map((words) => el("p", { class: "notes", role: "note" }, words));
  if (!samples.length) return [heading(row, data), ...missing];
  const context = { gold: review.gold, language: row.lang };
  const parts = [heading(row, data), ...missing, textSection(row, samples, review.gold, data)];
  const failed = samples.filter(({ sample }) => sample.analysis.status === "error");
  for (const { name, sample } of failed) {
    parts.push(el("div", {}, samples.length > 1 ? el("p", { class: "side-name", translate: "no" }, name) : null, failure(sample)));
  }
  if (failed.length < samples.length) {
    const shown = SECTIONS.filter(({ applies }) => !applies || samples.some(({ sample }) => applies(sample)));
    for (const section of shown) parts.push(sectionFor(section, samples, context));
  } else {
    parts.push(sectionFor(SECTIONS.at(-1), samples, context));
  }
  return parts;
}
