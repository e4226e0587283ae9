// Search over the reviews: words, overall opinion, aspect.

const FIRST_REVIEWS = 20;

class Reviews {
  constructor(data, rows) {
    this.data = data;
    this.rows = rows.map(([review, text, isCut, language, opinion, day, values, marks]) => ({
      review, text, isCut, language, opinion, day, values,
      marks: marks.map(([aspect, term, polarity, start, end]) => ({ aspect, term, polarity, start, end })),
      searched: `${text}\n${marks.map(([, term]) => term).join("\n")}`.normalize("NFC").toLowerCase(),
    }));
    this.query = { words: "", opinion: "", aspect: -1 };
    this.shown = FIRST_REVIEWS;
  }

  start() {
    const change = (id, key, read) => byId(id).addEventListener(id === "search" ? "input" : "change", (event) => {
      this.query[key] = read(event.target.value);
      this.shown = FIRST_REVIEWS;
      this.list();
    });
    change("search", "words", String);
    change("pick-opinion", "opinion", String);
    change("pick-aspect", "aspect", Number);
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", (event) => { event.preventDefault(); this.ask({ words: "", opinion: "", aspect: -1 }); });
    byId("more-reviews").addEventListener("click", () => {
      const before = this.shown;
      this.shown += 50;
      this.list();
      byId("review-list").children[before]?.focus();
    });
    byId("reviews-csv").addEventListener("click", () => this.saveTable());
    speech.views.push(() => this.draw());
    this.draw();
  }

  ask(query) {
    Object.assign(this.query, query);
    this.shown = FIRST_REVIEWS;
    this.draw();
  }

  /** The reviews of one aspect. */
  showAspect(aspect) {
    this.ask({ words: "", opinion: "", aspect });
    byId("reviews").scrollIntoView();
    byId("search").focus({ preventScroll: true });
  }

  matching() {
    const words = this.query.words.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
    const { opinion, aspect } = this.query;
    return this.rows.filter((row) => (!opinion || row.opinion === opinion)
      && (aspect < 0 || row.marks.some((mark) => mark.aspect === aspect))
      && words.every((word) => row.searched.includes(word)));
  }

  draw() {
    const { data, query } = this;
    const cut = this.rows.filter((row) => row.isCut).length;
    const covers = this.rows.length === data.analysed ? say("reviews_all", { n: data.analysed }) : say("reviews_some", { n: this.rows.length, total: data.analysed });
    byId("reviews-lead").textContent = cut ? `${covers} ${say("reviews_cut", { n: cut, limit: data.cut })}` : covers;
    byId("search").value = query.words;
    options(byId("pick-opinion"), [["", say("any")], ...["positive", "negative", "mixed", "neutral", "none"].map((name) => [name, say(name)])], query.opinion);
    options(byId("pick-aspect"), [[-1, say("any")], ...data.aspects.map((aspect, place) => [place, aspectName(aspect.name)])], query.aspect);
    this.list();
  }

  list() {
    const rows = this.matching();
    byId("found").textContent = rows.length ? say("found", { n: rows.length }) : say("not_found");
    byId("review-list").replaceChildren(...rows.slice(0, this.shown).map((row) => this.item(row)));
    byId("more-reviews").hidden = rows.length <= this.shown;
    byId("reviews-csv").disabled = !rows.length;
  }

  item(row) {
    const { query } = this;
    const marks = query.aspect < 0 ? row.marks : [...row.marks].sort((a, b) => (b.aspect === query.aspect) - (a.aspect === query.aspect));
    const facts = [say("review_n", { n: row.review }), row.day, ...row.values.map((value, place) => (value < 0 ? "" : `${this.data.columns[place].name}: ${this.data.columns[place].values[value].name}`))];
    return el("li", { tabindex: "-1" },
      el("p", { class: "review-text" }, markedText(row.text, marks, row.language), row.isCut ? " …" : null),
      marks.length ? el("ul", { class: "pairs" }, marks.map((mark) => el("li", { class: CLASS[mark.polarity] }, `${SIGN[mark.polarity]} `, hidden(`${say(mark.polarity)}: `), quoted(aspectName(mark.term))))) : null,
      el("p", { class: "review-facts" }, el("span", { class: `polarity ${CLASS[row.opinion] || "neu"}` }, `${SIGN[row.opinion] || "·"} ${say(speech.words[row.opinion] ? row.opinion : "none")}`),
        facts.filter(Boolean).map((fact) => el("span", {}, quoted(fact)))));
  }

  saveTable() {
    const { columns } = this.data;
    saveCsv(fileName("reviews"), ["review", "date", "label", "aspects", "text", ...columns.map((column) => column.name)],
      this.matching().map((row) => [row.review, row.day, row.opinion, row.marks.map((mark) => `${mark.term} ${mark.polarity}`.trim()).join("; "), row.text,
        ...row.values.map((value, place) => (value < 0 ? "" : columns[place].values[value].name))]));
  }
}
