// The list of aspects: one row each, with its bars; a row opens to typical quotes.

const FIRST_ROWS = 15;
const FIRST_QUOTES = 3;

/** A text with one part marked. Offsets count code points; <bdi> keeps the direction of the text inside. */
function markedText(text, marks, language) {
  const letters = Array.from(text);
  const parts = [];
  let place = 0;
  for (const mark of [...marks].sort((a, b) => a.start - b.start)) {
    if (mark.start < place || mark.end <= mark.start) continue;
    parts.push(letters.slice(place, mark.start).join(""));
    parts.push(el("mark", { class: CLASS[mark.polarity] }, el("span", { class: "sign", "aria-hidden": "true" }, SIGN[mark.polarity]),
      hidden(`${say(mark.polarity)}: `), letters.slice(mark.start, mark.end).join("")));
    place = mark.end;
  }
  parts.push(letters.slice(place).join(""));
  return el("bdi", { dir: "auto", lang: language === "other" ? null : language }, parts);
}

class Aspects {
  constructor(data, findReviews) {
    this.rest = data.rest;
    this.findReviews = findReviews;
    this.rows = data.aspects.map((aspect, place) => ({ ...aspect, place, mentions: sum(aspect.tally) }));
    this.sort = "mentions";
    this.shown = FIRST_ROWS;
    this.open = new Map(); // place of the open aspect -> quotes shown per polarity
  }

  start() {
    if (!this.rows.length) { byId("aspects-csv").hidden = byId("aspects-svg").hidden = true; return; }
    byId("more-aspects").addEventListener("click", () => {
      const before = this.shown;
      this.shown += 50;
      this.draw();
      byId("aspect-list").querySelectorAll(".aspect")[before]?.focus();
    });
    byId("aspects-csv").addEventListener("click", () => this.saveTable());
    byId("aspects-svg").addEventListener("click", () => saveSvg(fileName("aspects"), say("aspects_title"), aspectsChart(this.named().slice(0, this.shown))));
    speech.views.push(() => this.draw());
    onResize(byId("aspect-list"), () => this.draw());
  }

  /** Rows with a name, in the chosen order. */
  named() {
    const by = { mentions: (row) => row.mentions, positive: (row) => row.tally[0], negative: (row) => row.tally[1] }[this.sort];
    return this.rows.filter((row) => row.name).sort((a, b) => by(b) - by(a) || a.place - b.place);
  }

  draw() {
    const focused = document.activeElement?.closest?.("#aspect-list, #sort") ? document.activeElement.id : "";
    byId("sort").replaceChildren(...["mentions", "positive", "negative"].map((name) => el("button", {
      type: "button", id: `sort-${name}`, class: "segment", "aria-pressed": String(this.sort === name),
      on: { click: () => { this.sort = name; this.draw(); } },
    }, say(`sort_${name}`))));
    const named = this.named();
    const rows = named.slice(0, this.shown);
    const unnamed = this.rows.filter((row) => !row.name);
    const list = byId("aspect-list");
    const isWide = window.matchMedia("(min-width: 46rem)").matches;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const width = Math.floor(list.clientWidth - (isWide ? 27.7 * rem : 1.2 * rem));
    const scale = divergingScale(width, rows.length ? rows.map((row) => row.tally) : [[0, 0, 0]]);
    byId("aspect-key").replaceChildren(svgEl("svg", { class: "chart", width, height: 18, viewBox: `0 0 ${width} 18` }, divergingKey(scale, width)));
    list.replaceChildren(...rows.map((row) => this.item(row, scale, width)), ...unnamed.map((row) => this.item(row, null, width)));
    const left = named.length - rows.length;
    byId("more-aspects").hidden = left <= 0;
    byId("more-aspects").textContent = left > 0 ? say("more_aspects", { n: Math.min(50, left) }) : "";
    byId("rest").hidden = !this.rest.groups;
    if (this.rest.groups) {
      const [positive, negative, neutral] = this.rest.tally;
      byId("rest").textContent = say("rest", { groups: this.rest.groups, n: sum(this.rest.tally), positive, negative, neutral });
    }
    if (focused) byId(focused)?.focus();
  }

  item(row, scale, width) {
    const isOpen = this.open.has(row.place);
    const [positive, negative, neutral] = row.tally;
    const counts = `${say("negative")} ${count(negative)}, ${say("positive")} ${count(positive)}, ${say("neutral")} ${count(neutral)}`;
    const bars = scale
      ? svgEl("svg", { class: "chart", width, height: 26, viewBox: `0 -4 ${width} 26`, "aria-hidden": "true" }, divergingBars(scale, row.tally))
      : el("span", { class: "muted counts", "aria-hidden": "true" }, counts);
    return el("li", { class: isOpen ? "is-open" : null },
      el("button", {
        type: "button", class: `aspect${scale ? "" : " unnamed"}`, id: `aspect-${row.place}`, "aria-expanded": String(isOpen), "aria-controls": isOpen ? `quotes-${row.place}` : null,
        on: { click: () => this.toggle(row) },
      },
      el("span", { class: "aspect-name" }, el("span", { class: "arrow", "aria-hidden": "true" }), row.name ? quoted(row.name) : say("no_aspect")),
      el("span", { class: "aspect-bars" }, bars), hidden(`${counts}. `),
      el("span", { class: "aspect-numbers" }, emphasised(say("share_row", { share: percent(positive, row.mentions), n: row.mentions })))),
      isOpen ? this.quotes(row) : null);
  }

  toggle(row) {
    if (!this.open.delete(row.place)) this.open.set(row.place, { positive: FIRST_QUOTES, negative: FIRST_QUOTES, neutral: FIRST_QUOTES });
    this.draw();
  }

  quotes(row) {
    const more = row.spellings_n - row.spellings.length;
    const list = row.spellings.map(([spelling, n]) => `${spelling} (${count(n)})`).join(", ") + (more ? ` ${say("and_more", { n: more })}` : "");
    const sides = ["negative", "positive", "neutral"].filter((name) => name !== "neutral" || row.quotes.neutral.length);
    return el("div", { class: "quotes", id: `quotes-${row.place}` },
      row.name && row.spellings_n > 1 ? el("p", { class: "grouped" }, quoted(say("grouped", { list }))) : null,
      el("div", { class: "sides" }, sides.map((name) => this.side(row, name))),
      el("p", { class: "quotes-foot" }, el("span", { class: "muted" }, say("quotes_rule")), el("button", {
        type: "button", class: "quiet no-print", on: { click: () => this.findReviews(row.place) },
      }, say("find_reviews"))));
  }

  side(row, name) {
    const shown = this.open.get(row.place);
    const quotes = row.quotes[name];
    const n = row.tally[{ positive: 0, negative: 1, neutral: 2 }[name]];
    const visible = quotes.slice(0, shown[name]);
    return el("div", { class: `side-quotes ${CLASS[name]}` },
      el("h3", {}, `${SIGN[name]} ${say(`quotes_${name}`)} `, el("small", {}, n ? say("quotes_shown", { shown: visible.length, n }) : say("no_quotes"))),
      visible.map((quote) => this.quote(quote, name)),
      quotes.length > visible.length ? el("button", {
        type: "button", class: "quiet no-print", id: `more-${row.place}-${name}`, on: { click: () => { shown[name] += 10; this.draw(); } },
      }, say("more_quotes")) : null);
  }

  quote([review, text, start, end, cutBefore, cutAfter, language, day], polarity) {
    return el("blockquote", {}, el("p", {}, cutBefore ? "… " : null, markedText(text, [{ start, end, polarity }], language), cutAfter ? " …" : null),
      el("footer", {}, say("review_n", { n: review }), day ? ` · ${day}` : null));
  }

  saveTable() {
    saveCsv(fileName("aspects"), ["aspect", "spellings", "positive", "negative", "neutral", "mentions", "share_positive"],
      this.rows.map((row) => [row.name, row.spellings.map(([spelling]) => spelling).join("; "), ...row.tally, row.mentions, share(row.tally)]));
  }
}

/** The share of positive mentions for a table; empty without a mention. */
const share = (tally) => (sum(tally) ? Number((tally[0] / sum(tally)).toFixed(4)) : "");

/** Draws again when the width changes; a new height alone changes nothing. */
function onResize(node, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (!node.clientWidth || node.clientWidth === width) return;
    width = node.clientWidth;
    draw();
  }).observe(node);
}
