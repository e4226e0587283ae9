// The charts over time and by column, each with a table of the same numbers.

function options(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, fitted(text, 260))));
}

/** All aspects first, then the leading ones. The value is the place of the tally. */
function aspectOptions(data) {
  return [[0, say("all_aspects")], ...data.aspects.slice(0, data.leading).map((aspect, place) => [place + 1, `${aspectName(aspect.name)} (${count(sum(aspect.tally))})`])];
}

const chosenAspect = (data, place) => (place ? aspectName(data.aspects[place - 1].name) : say("all_aspects"));

function splitTable(first, rows, place) {
  const head = [first, say("reviews_n"), say("axis_mentions"), `− ${say("negative")}`, `○ ${say("neutral")}`, `+ ${say("positive")}`, say("share_column")];
  return el("table", {}, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(([name, row]) => {
      const tally = row.tallies[place];
      const [positive, negative, neutral] = tally;
      return el("tr", {}, el("th", { scope: "row" }, quoted(name)),
        [row.reviews, sum(tally), negative, neutral, positive].map((value) => el("td", {}, count(value))), el("td", {}, percent(positive, sum(tally))));
    })));
}

function saveSplit(part, first, rows, aspect, place) {
  saveCsv(fileName(part), [first, "aspect", "reviews", "mentions", "positive", "negative", "neutral", "share_positive"],
    rows.map((row) => [row.name, aspect, row.reviews, sum(row.tallies[place]), ...row.tallies[place], share(row.tallies[place])]));
}

class OverTime {
  constructor(data) {
    this.data = data;
    this.time = data.time;
    this.place = 0;
  }

  start() {
    if (!this.time) return;
    const choice = byId("time-aspect");
    choice.addEventListener("change", () => { this.place = Number(choice.value); this.draw(); });
    byId("time-csv").addEventListener("click", () => saveSplit("over_time", this.time.unit, this.time.bins, chosenAspect(this.data, this.place), this.place));
    byId("time-svg").addEventListener("click", () => saveSvg(fileName("over_time"), this.title(), timeChart(860, this.time, this.place, this.title())));
    const pane = byId("time-chart");
    pane.addEventListener("pointermove", (event) => this.point(event));
    pane.addEventListener("pointerdown", (event) => this.point(event));
    speech.views.push(() => this.draw());
    onResize(pane, () => this.draw());
  }

  title() {
    return say("time_chart", { unit: say(`unit_${this.time.unit}`), aspect: chosenAspect(this.data, this.place) });
  }

  draw() {
    const { time, place } = this;
    const unit = say(`unit_${time.unit}`);
    byId("time-lead").textContent = say("time_lead", { unit, column: time.column });
    options(byId("time-aspect"), aspectOptions(this.data), place);
    byId("time-chart").replaceChildren(timeChart(Math.max(280, byId("time-chart").clientWidth), time, place, this.title()));
    byId("time-readout").textContent = say("time_hint");
    byId("time-table").replaceChildren(splitTable(say("period"), time.bins.map((bin) => [periodName(bin.name, time.unit, { long: true }), bin]), place));
  }

  point(event) {
    const picture = byId("time-chart").firstElementChild;
    const across = event.clientX - picture.getBoundingClientRect().left - 46;
    const index = Math.floor((across / (picture.clientWidth - 50)) * this.time.bins.length);
    const bin = this.time.bins[Math.max(0, Math.min(this.time.bins.length - 1, index))];
    const [positive, negative, neutral] = bin.tallies[this.place];
    const n = positive + negative + neutral;
    const when = periodName(bin.name, this.time.unit, { long: true });
    byId("time-readout").textContent = n ? say("readout", { when, share: percent(positive, n), n, positive, negative, neutral }) : `${when}: ${say("no_mention")}`;
  }
}

class Columns {
  constructor(data) {
    this.data = data;
    this.column = 0;
    this.place = 0;
  }

  start() {
    if (!this.data.columns.length) return;
    byId("column-name").addEventListener("change", (event) => { this.column = Number(event.target.value); this.draw(); });
    byId("column-aspect").addEventListener("change", (event) => { this.place = Number(event.target.value); this.draw(); });
    byId("columns-csv").addEventListener("click", () => {
      const column = this.data.columns[this.column];
      saveSplit("by_column", column.name, column.values, chosenAspect(this.data, this.place), this.place);
    });
    byId("columns-svg").addEventListener("click", () => saveSvg(fileName("by_column"), this.title(), this.picture(860)));
    speech.views.push(() => this.draw());
    onResize(byId("column-chart"), () => this.draw());
  }

  title() {
    return say("columns_chart", { column: this.data.columns[this.column].name, aspect: chosenAspect(this.data, this.place) });
  }

  picture(width) {
    return columnChart(width, this.data.columns[this.column].values, this.place, this.title());
  }

  draw() {
    const { columns } = this.data;
    const column = columns[this.column];
    options(byId("column-name"), columns.map((other, index) => [index, other.name]), this.column);
    options(byId("column-aspect"), aspectOptions(this.data), this.place);
    byId("column-chart").replaceChildren(this.picture(Math.max(280, byId("column-chart").clientWidth)));
    byId("column-empty").hidden = !column.empty;
    if (column.empty) byId("column-empty").textContent = say("columns_empty", { n: column.empty });
    byId("column-table").replaceChildren(splitTable(column.name, column.values.map((value) => [value.name, value]), this.place));
  }
}
