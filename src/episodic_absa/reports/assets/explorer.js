// The explorer: filters the samples, lists them page by page and opens one. The page address names the open sample.

const isWide = () => window.matchMedia("(min-width: 60rem)").matches;
/** Samples per page of the list. On a phone the tables follow below the list: a long one would hide them. */
const PAGE = isWide() ? 50 : 10;

function exactMark(isRight) {
  return el("span", { class: isRight ? "hit" : "miss" }, isRight ? "✓" : "✗", hidden(isRight ? say(" equals gold", " 정답과 같음") : say(" differs from gold", " 정답과 다름")));
}

class Explorer {
  constructor(data) {
    this.data = data;
    const [a, b] = data.first;
    this.query = { a, b, ...data.firstTrial(a, ...(b ? [b] : [])), words: "", language: "", domain: "", filters: new Set() };
    this.rows = [];
    this.page = 0;
    this.open = null;
    this.opening = 0;
    this.named = false; // whether the address names the open sample
  }

  start() {
    const { data, query } = this;
    const options = (select, values, chosen, words = (value) => value) => {
      select.replaceChildren(...values.map((value) => el("option", { value, selected: value === chosen }, words(value))));
      select.closest("label").hidden = values.length < 2;
    };
    options(byId("pick-a"), data.conditions, query.a);
    options(byId("pick-b"), ["", ...data.conditions], query.b, (value) => value || say("none", "없음"));
    options(byId("pick-order"), data.orders.map(String), String(query.order));
    options(byId("pick-seed"), data.seeds.map(String), String(query.seed));
    options(byId("pick-language"), ["", ...new Set(data.rows.map((row) => row.language).sort())], "", (value) => value || say("any", "모두"));
    options(byId("pick-domain"), ["", ...new Set(data.rows.map((row) => row.domain).sort())], "", (value) => value || say("any", "모두"));
    // The list has "any" as well: with a single language or domain there is nothing to choose.
    for (const id of ["pick-language", "pick-domain"]) byId(id).closest("label").hidden = byId(id).options.length < 3;
    byId("pick-b").closest("label").hidden = data.conditions.length < 2;

    byId("chips").replaceChildren(...FILTERS.map((filter) => el("button", {
      type: "button", class: "chip", "data-filter": filter.name, "aria-pressed": "false",
      on: { click: () => this.toggle(filter.name) },
    }, el("span", { class: "filter-name" }), " ", el("span", { class: "count" }))));

    const change = (id, key, read = (value) => value) => byId(id).addEventListener("change", (event) => {
      query[key] = read(event.target.value);
      this.apply();
      if (this.open) this.show(this.open, { scroll: false, named: this.named });
    });
    change("pick-a", "a");
    change("pick-b", "b");
    change("pick-order", "order", Number);
    change("pick-seed", "seed", Number);
    change("pick-language", "language");
    change("pick-domain", "domain");
    byId("search").addEventListener("input", (event) => { query.words = event.target.value; this.apply(); });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", () => this.reset());
    byId("page-back").addEventListener("click", () => this.turn(-1));
    byId("page-on").addEventListener("click", () => this.turn(1));
    byId("sample-list").addEventListener("keydown", (event) => this.walk(event));
    byId("back-to-list").addEventListener("click", () => this.close());
    byId("sample-back").addEventListener("click", () => this.step(-1));
    byId("sample-on").addEventListener("click", () => this.step(1));
    for (const button of document.querySelectorAll("button[data-show]")) {
      button.addEventListener("click", () => this.showOnly(button.dataset));
    }
    window.addEventListener("hashchange", () => this.follow(location.hash));
    onLanguage(() => this.say());

    byId("explorer").hidden = false;
    byId("explorer-wait").hidden = true;
    this.apply();
    if (this.follow(location.hash)) return;
    // Beside the list a first sample is open; nothing says that the reader chose it, so the address does not name it.
    if (isWide() && this.rows.length) this.show(this.rows[0], { scroll: false, named: false });
    else byId("sample-body").replaceChildren(emptyPane());
  }

  /** Write the explorer's words in the language of the page. */
  say() {
    for (const [id, words] of [["pick-b", ["none", "없음"]], ["pick-language", ["any", "모두"]], ["pick-domain", ["any", "모두"]]]) {
      const nothing = [...byId(id).options].find((option) => option.value === "");
      if (nothing) nothing.textContent = say(...words);
    }
    const { page } = this;
    this.apply();
    this.page = page;
    this.list();
    if (this.open) this.show(this.open, { scroll: false, named: this.named });
    else byId("sample-body").replaceChildren(emptyPane());
  }

  /** List the samples of one condition that pass one filter; called from tables. */
  showOnly({ show, a, order, seed }) {
    Object.assign(this.query, { a, b: "", order: Number(order), seed: Number(seed), words: "", language: "", domain: "", filters: new Set([show]) });
    this.showChoices();
    this.apply();
    byId("explorer").classList.remove("opened");
    byId("samples").scrollIntoView();
    if (isWide() && this.rows.length) this.show(this.rows[0], { scroll: false });
    byId("sample-list").querySelector("button")?.focus({ preventScroll: true });
  }

  toggle(name) {
    const { filters } = this.query;
    if (!filters.delete(name)) filters.add(name);
    this.apply();
  }

  reset() {
    Object.assign(this.query, { words: "", language: "", domain: "", filters: new Set() });
    // The form clears its own fields afterwards; conditions, order and seed are kept.
    queueMicrotask(() => { this.showChoices(); this.apply(); });
  }

  showChoices() {
    const { query } = this;
    byId("pick-a").value = query.a;
    byId("pick-b").value = query.b;
    byId("pick-order").value = String(query.order);
    byId("pick-seed").value = String(query.seed);
    byId("pick-language").value = query.language;
    byId("pick-domain").value = query.domain;
    byId("search").value = query.words;
  }

  apply() {
    performance.mark("filter-start");
    const { rows, counts } = select(this.data, this.query);
    this.rows = rows;
    this.page = 0;
    for (const chip of byId("chips").children) {
      const { name, label, hint, needsB } = FILTERS.find((filter) => filter.name === chip.dataset.filter);
      chip.title = say(...hint);
      chip.querySelector(".filter-name").textContent = say(...label);
      chip.setAttribute("aria-pressed", String(this.query.filters.has(name)));
      chip.querySelector(".count").textContent = counted(counts[name]);
      chip.hidden = Boolean(needsB && !this.query.b);
    }
    this.list();
    performance.measure("filter", "filter-start");
  }

  list() {
    const { rows, page } = this;
    const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    byId("found").textContent = say(`${counted(rows.length)} of ${counted(this.data.rows.length)} samples`,
      `샘플 ${counted(this.data.rows.length)}개 중 ${counted(rows.length)}개`);
    byId("page-number").textContent = `${page + 1} / ${pages}`;
    byId("page-back").disabled = page === 0;
    byId("page-on").disabled = page + 1 >= pages;
    byId("pager").hidden = pages < 2;
    byId("sample-list").replaceChildren(...shown.map((row) => this.item(row)));
    const without = notRun(this.data, this.query);
    byId("not-run").hidden = !without.length;
    byId("not-run").textContent = without.join("; ");
    if (!shown.length) byId("sample-list").append(el("li", { class: "none" }, say("no sample matches", "해당하는 샘플이 없습니다")));
  }

  item(row) {
    const { data, query } = this;
    const a = data.cellOf(query.a, query);
    const badges = Object.entries(WORDS.flag).filter(([flag]) => data.has(row, a, flag))
      .map(([flag, words]) => el("span", { class: `badge ${flag}` }, say(...words)));
    const exact = data.has(row, a, "has_gold") ? exactMark(data.has(row, a, "right")) : null;
    return el("li", {}, el("button", {
      type: "button", class: "item", "data-uid": row.uid, "aria-current": row === this.open ? "true" : null,
      on: { click: () => this.show(row) },
    },
    row.text ? el("span", { class: "snippet", dir: "auto", lang: row.lang }, Array.from(row.text).slice(0, 160).join("")) : null,
    el("span", { class: "meta" }, exact, el("span", { class: "uid" }, quoted(row.uid)), badges)));
  }

  turn(by) {
    this.page += by;
    this.list();
    byId("sample-list").querySelector("button")?.focus();
  }

  /** Move the focus with the arrow keys. */
  walk(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const items = [...byId("sample-list").querySelectorAll("button")];
    items[items.indexOf(document.activeElement) + by]?.focus();
  }

  step(by) {
    const next = this.rows[this.rows.indexOf(this.open) + by];
    if (!next) return;
    const page = Math.floor(this.rows.indexOf(next) / PAGE);
    if (page !== this.page) { this.page = page; this.list(); }
    this.show(next);
  }

  async show(row, { scroll = true, named = true } = {}) {
    this.open = row;
    this.named = named;
    this.opening += 1;
    const turn = this.opening;
    const parts = await samplePage(this.data, row, this.query);
    if (turn !== this.opening) return; // a later call opens another sample
    byId("sample-body").replaceChildren(...parts.filter(Boolean));
    byId("explorer").classList.add("opened");
    const place = this.rows.indexOf(row);
    byId("sample-back").disabled = place <= 0;
    byId("sample-on").disabled = place < 0 || place + 1 >= this.rows.length;
    for (const item of byId("sample-list").querySelectorAll("button")) {
      if (item.dataset.uid === row.uid) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
    if (named) this.remember();
    if (!scroll) return;
    byId("sample").scrollTop = 0;
    if (isWide()) return; // the list is visible and keeps the focus
    byId("sample").scrollIntoView({ block: "start" });
    byId("sample-title")?.focus({ preventScroll: true });
  }

  close() {
    const uid = this.open?.uid;
    byId("explorer").classList.remove("opened");
    const item = [...byId("sample-list").querySelectorAll("button")].find((button) => button.dataset.uid === uid);
    (item || byId("search")).focus();
  }

  remember() {
    const { query, open } = this;
    const order = this.data.orders.length > 1 ? { order: String(query.order) } : {};
    const hash = new URLSearchParams({ uid: open.uid, a: query.a, ...(query.b ? { b: query.b } : {}), ...order, seed: String(query.seed) });
    // Replaced, not pushed: the back button leaves the page instead of stepping through samples.
    try { history.replaceState(null, "", `#${hash}`); } catch { location.hash = String(hash); }
  }

  /** Open the sample that the address names; return whether the page has it. */
  follow(hash) {
    const wanted = new URLSearchParams(hash.slice(1));
    const place = this.data.placeOf.get(wanted.get("uid"));
    if (place === undefined) return false;
    const { query, data } = this;
    if (data.conditions.includes(wanted.get("a"))) query.a = wanted.get("a");
    query.b = data.conditions.includes(wanted.get("b")) ? wanted.get("b") : "";
    if (wanted.has("order") && data.orders.includes(Number(wanted.get("order")))) query.order = Number(wanted.get("order"));
    if (data.seeds.includes(Number(wanted.get("seed")))) query.seed = Number(wanted.get("seed"));
    this.showChoices();
    this.apply();
    this.show(data.rows[place]).then(() => byId("samples").scrollIntoView());
    return true;
  }
}

async function startExplorer() {
  const block = byId("explorer-index");
  if (!block) return;
  byId("explorer-wait").hidden = false;
  if (typeof DecompressionStream === "undefined") {
    byId("explorer-wait").hidden = true;
    byId("explorer-old").hidden = false;
    return;
  }
  new Explorer(new SampleData(await unpack(block))).start();
  performance.mark("explorer-ready");
}
