// Saves tables as CSV and charts as SVG. Nothing leaves the browser.

/** A cell that a spreadsheet shows as text: a leading = + - @ would make it a formula, so an apostrophe goes first. */
function csvCell(value) {
  if (typeof value === "number") return String(value);
  const text = /^'*\s*[=+\-@＝＋－＠].|^'*[\t\r\n]./s.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveCsv(name, header, rows) {
  const lines = [header, ...rows].map((row) => row.map(csvCell).join(","));
  // Spreadsheets read the file as UTF-8 only with a byte order mark.
  save(`${name}.csv`, "text/csv;charset=utf-8", `\ufeff${lines.join("\r\n")}\r\n`);
}

/** Saves a chart with a heading, in the colours of the light theme. */
function saveSvg(name, heading, chart) {
  const width = Number(chart.getAttribute("width"));
  const height = Number(chart.getAttribute("height"));
  const whole = svgEl("svg", {
    xmlns: SVG, class: "chart", width: width + 32, height: height + 62, viewBox: `0 0 ${width + 32} ${height + 62}`,
  },
  svgEl("rect", { class: "paper", width: width + 32, height: height + 62 }),
  svgEl("text", { class: "heading", x: 16, y: 26 }, fitted(heading, width, 14)),
  svgEl("g", { transform: "translate(16 46)" }, [...chart.cloneNode(true).childNodes]));
  const text = new XMLSerializer().serializeToString(whole);
  save(`${name}.svg`, "image/svg+xml", text.replace(/>/, `><style>${chartStyle()}</style>`));
}

/** The rules for charts, with the light colours in place of variables. */
function chartStyle() {
  const root = getComputedStyle(document.documentElement);
  const light = (name) => root.getPropertyValue(name).match(/#[0-9a-f]{3,8}/i)?.[0] || "#000000";
  const rules = [...document.styleSheets[0].cssRules].filter((rule) => rule.selectorText?.startsWith(".chart "));
  const family = getComputedStyle(document.body).fontFamily;
  return `.chart { font-family: ${family}; font-size: 12px; }\n${rules.map((rule) => rule.cssText).join("\n")}`
    .replace(/var\((--[\w-]+)\)/g, (_, name) => light(name));
}

function fileName(part) {
  const stem = speech.source || "reviews";
  return `${stem.replace(/\.\w+$/, "").replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 60)}_${part}`;
}
