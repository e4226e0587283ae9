// Draws charts as SVG for a given width. Labels are measured before they are placed, so they never overlap.

const FEW = 5; // a share of fewer mentions is drawn pale
const CLASS = { positive: "pos", negative: "neg", neutral: "neu", mixed: "mix", none: "no" };
const SIGN = { positive: "+", negative: "−", neutral: "○", mixed: "±", none: "·" };
const pencil = document.createElement("canvas").getContext("2d");

function textWidth(text, size = 12, weight = 400) {
  pencil.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pencil.measureText(text).width;
}

/** The text, or as much of it as fits with an ellipsis. */
function fitted(text, width, size = 12) {
  if (textWidth(text, size) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size) > width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

const label = (x, y, text, kind = "", anchor = null) => svgEl("text", { x, y, class: kind || null, "text-anchor": anchor }, text);
const box = (x, y, width, height, kind) => svgEl("rect", { x, y, width: Math.max(0, width), height, rx: Math.min(2, width / 2), class: kind });

function chart(width, height, title, ...children) {
  return svgEl("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, svgEl("title", {}, title), children);
}

/** One bar of whole width, cut by label, with a legend that names every count. */
function labelsChart(width, labels) {
  const order = ["negative", "mixed", "neutral", "positive", "none"];
  const counts = Object.fromEntries(labels);
  const total = labels.reduce((sum, [, value]) => sum + value, 0);
  const parts = [];
  let x = 0;
  for (const name of order) {
    const size = total ? (width * counts[name]) / total : 0;
    if (size) parts.push(box(x, 0, Math.max(1, size - 1.5), 18, `bar ${CLASS[name]}`));
    x += size;
  }
  let [left, top] = [0, 40];
  for (const name of order.filter((other) => counts[other])) {
    const text = `${SIGN[name]} ${say(name)} ${count(counts[name])} (${percent(counts[name], total)})`;
    const size = textWidth(text, 13) + 40;
    if (left && left + size - 22 > width) { left = 0; top += 22; }
    parts.push(box(left, top - 10, 11, 11, `bar ${CLASS[name]}`), label(left + 17, top, text, "legend"));
    left += size;
  }
  return chart(width, top + 8, say("labels_title"), parts);
}

/** How praise and blame share a width: blame grows to the left of zero, praise to the right, neutral stands apart. */
function divergingScale(width, tallies) {
  const most = [0, 1, 2].map((place) => Math.max(1, ...tallies.map((tally) => tally[place])));
  const room = Math.max(...tallies.flat().map((value) => textWidth(count(value)))) + 8;
  const unit = Math.max(0, width - 3 * room - 26) / (most[0] + most[1] + most[2]);
  const zero = room + most[1] * unit;
  const apart = zero + most[0] * unit + room + 26;
  return { unit, zero, apart, room };
}

/** The bars of one tally: counts stand at their ends. */
function divergingBars(scale, [positive, negative, neutral], y = 0, height = 18) {
  const { unit, zero, apart } = scale;
  const middle = y + height / 2 + 4;
  return [
    negative ? box(zero - negative * unit, y, negative * unit, height, "bar neg") : null,
    positive ? box(zero, y, positive * unit, height, "bar pos") : null,
    neutral ? box(apart, y, neutral * unit, height, "bar neu") : null,
    label(zero - negative * unit - 5, middle, count(negative), negative ? "" : "zero-count", "end"),
    label(zero + positive * unit + 5, middle, count(positive), positive ? "" : "zero-count"),
    label(apart + neutral * unit + 5, middle, count(neutral), neutral ? "" : "zero-count"),
    svgEl("line", { x1: zero, x2: zero, y1: y - 4, y2: y + height + 4, class: "axis" }),
    svgEl("line", { x1: apart, x2: apart, y1: y - 4, y2: y + height + 4, class: "axis" }),
  ];
}

/** The words above the bars: at their axes, or in a row where they would meet. */
function divergingKey(scale, width, y = 12) {
  const { zero, apart } = scale;
  const words = ["negative", "positive", "neutral"].map((name) => `${SIGN[name]} ${say(name)}`);
  const sizes = words.map((word) => textWidth(word, 12, 700));
  let starts = [zero - 7 - sizes[0], zero + 7, Math.min(apart, width - sizes[2])];
  if (starts[0] < 0 || starts[1] + sizes[1] + 10 > starts[2]) {
    starts = [0, sizes[0] + 16, sizes[0] + sizes[1] + 32];
  }
  const kinds = ["key neg", "key pos", "key neu"];
  return words.map((word, place) => (place ? label(starts[place], y, word, kinds[place]) : label(starts[0] + sizes[0], y, word, kinds[0], "end")));
}

/** The aspects as one picture, for export: the page itself shows one bar per row. */
function aspectsChart(rows, width = 860) {
  const names = 190;
  const numbers = 170;
  const bars = width - names - numbers;
  const scale = divergingScale(bars, rows.map((row) => row.tally));
  const parts = [svgEl("g", { transform: `translate(${names} 0)` }, divergingKey(scale, bars))];
  rows.forEach((row, place) => {
    const y = 26 + place * 30;
    parts.push(
      label(0, y + 13, fitted(aspectName(row.name), names - 16), "strong"),
      svgEl("g", { transform: `translate(${names} 0)` }, divergingBars(scale, row.tally, y)),
      label(width, y + 13, say("share_of", { share: percent(row.tally[0], row.mentions), n: row.mentions }), "soft", "end"),
    );
  });
  return chart(width, 30 + rows.length * 30, say("aspects_title"), parts);
}

/** Wilson's interval of a share, 95 %. */
function wilson(part, whole) {
  const z = 1.96;
  const share = part / whole;
  const middle = (share + (z * z) / (2 * whole)) / (1 + (z * z) / whole);
  const reach = (z / (1 + (z * z) / whole)) * Math.sqrt((share * (1 - share)) / whole + (z * z) / (4 * whole * whole));
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** Shares above, numbers of mentions below. A label stands for both or for none: no share without its n. */
function timeChart(width, time, place, title) {
  const bins = time.bins.map((bin) => ({ ...bin, tally: bin.tallies[place], n: sum(bin.tallies[place]) }));
  const [left, top, upper, shareRow, lower] = [46, 14, 150, 22, 56];
  const slot = (width - left - 4) / bins.length;
  const base = top + upper + shareRow + 22 + lower;
  const x = (index) => left + slot * (index + 0.5);
  const y = (share) => top + upper * (1 - share);
  const most = Math.max(1, ...bins.map((bin) => bin.n));
  const names = bins.map((bin) => periodName(bin.name, time.unit));
  const widest = Math.max(...names.map((name) => textWidth(name, 11.5)), textWidth("100 %", 11.5), textWidth(count(most), 11.5));
  const step = Math.max(1, Math.ceil((widest + 7) / slot));
  const parts = [0, 0.5, 1].map((share) => [
    svgEl("line", { x1: left, x2: width, y1: y(share), y2: y(share), class: share ? "grid" : "axis" }),
    label(left - 8, y(share) + 4, `${share * 100} %`, "tick", "end"),
  ]);
  parts.push(label(0, base - lower / 2 - 2, "n", "tick"), svgEl("line", { x1: left, x2: width, y1: base, y2: base, class: "axis" }));
  const line = [];
  bins.forEach((bin, index) => { if (bin.n) line.push(`${line.length ? "L" : "M"}${x(index).toFixed(1)} ${y(bin.tally[0] / bin.n).toFixed(1)}`); });
  const marks = [];
  bins.forEach((bin, index) => {
    const share = bin.n ? bin.tally[0] / bin.n : null;
    const pale = bin.n < FEW ? " few" : "";
    const height = (lower * bin.n) / most;
    const thick = Math.min(34, Math.max(2, slot * 0.62));
    parts.push(box(x(index) - thick / 2, base - height, thick, height, `bar count${pale}`));
    if (share !== null) {
      const [low, high] = wilson(bin.tally[0], bin.n);
      parts.push(svgEl("line", { x1: x(index), x2: x(index), y1: y(low), y2: y(high), class: "whisker" }));
      marks.push(svgEl("circle", { cx: x(index), cy: y(share), r: 4.5, class: `dot${pale}` }));
    }
    if (index % step === 0) {
      if (share !== null) parts.push(label(x(index), top + upper + 17, percent(bin.tally[0], bin.n), "share", "middle"));
      parts.push(label(x(index), base - height - 4, count(bin.n), "tick", "middle"), label(x(index), base + 15, names[index], "tick", "middle"));
    }
    const isNewYear = time.unit !== "year" && (index === 0 || bin.name.slice(0, 4) !== bins[index - 1].name.slice(0, 4));
    if (isNewYear) bin.year = yearName(bin.name);
  });
  let free = 0;
  bins.forEach((bin, index) => {
    // A year stands under its first bin, unless the year before still needs the place.
    const half = bin.year ? textWidth(bin.year, 11.5, 600) / 2 : 0;
    if (!bin.year || x(index) - half < free || x(index) + half > width) return;
    parts.push(label(x(index), base + 31, bin.year, "tick strong", "middle"));
    free = x(index) + half + 8;
  });
  return chart(width, base + 36, title, parts, svgEl("path", { d: line.join(""), class: "line" }), marks);
}

const sum = (tally) => tally[0] + tally[1] + tally[2];

/** One bar of 100 % per value: blame from the left, praise from the right. */
function columnChart(width, values, place, title) {
  const rows = values.map((value) => ({ name: value.name, tally: value.tallies[place], n: sum(value.tallies[place]) }));
  const room = Math.max(...rows.map((row) => textWidth(`n = ${count(row.n)}`))) + 12;
  const isNarrow = width < 560;
  const names = isNarrow ? 0 : Math.min(200, Math.max(...rows.map((row) => textWidth(row.name, 13))) + 18);
  const [pitch, above] = isNarrow ? [50, 20] : [32, 0];
  const bar = width - names - room;
  const parts = [
    label(names, 12, `${SIGN.negative} ${say("negative")}`, "key neg"),
    label(names + bar, 12, `${say("positive")} ${SIGN.positive}`, "key pos", "end"),
  ];
  rows.forEach((row, index) => {
    const y = 24 + index * pitch + above;
    parts.push(isNarrow ? label(0, y - 6, fitted(row.name, width, 13), "strong") : label(0, y + 15, fitted(row.name, names - 14, 13), "strong"));
    parts.push(label(width, y + 15, row.n ? `n = ${count(row.n)}` : say("no_mention"), "soft", "end"));
    if (!row.n) return;
    let x = names;
    for (const [slot, name] of [[1, "negative"], [2, "neutral"], [0, "positive"]]) {
      const size = (bar * row.tally[slot]) / row.n;
      if (!size) continue;
      parts.push(box(x, y, Math.max(1, size - 1.5), 22, `bar ${CLASS[name]}${row.n < FEW ? " few" : ""}`));
      const text = percent(row.tally[slot], row.n);
      if (size > textWidth(text, 12, 600) + 12) parts.push(label(x + size / 2, y + 15, text, row.n < FEW ? "strong" : "on-bar", "middle"));
      x += size;
    }
  });
  return chart(width, 24 + rows.length * pitch + 2, title, parts);
}
