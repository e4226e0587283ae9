// Builds elements from values. Text always becomes a text node, so a review can never become markup.

const SVG = "http://www.w3.org/2000/svg";

/** el("p", {class: "note", lang: "ko"}, "text", child, null) */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  return fill(node, attributes, children);
}

function svgEl(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

const byId = (id) => document.getElementById(id);
const hidden = (text) => el("span", { class: "sr" }, text);

const LONGEST_QUOTE = 400;

/** The first characters of a text, and how many it has. A word of 100,000 letters must not freeze the page. */
function cut(text, longest) {
  if (text.length <= longest) return [text];
  // The last character may be the first half of a pair.
  return [text.slice(0, longest).replace(/[\ud800-\udbff]$/, ""), el("span", { class: "cut" }, `… (${counted(text.length)})`)];
}

/** Text from a review; <bdi> keeps its writing direction from affecting the text around it. */
const quoted = (text, language) => el("bdi", { dir: "auto", lang: language || null }, cut(text, LONGEST_QUOTE));

const number = (value, digits = 2) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");

/** A whole number with thousands separators. */
const counted = (value) => value.toLocaleString("en");
