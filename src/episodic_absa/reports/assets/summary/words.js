// The words of the page in the reader's language. Static sentences carry their key; views draw themselves again.

const speech = { words: {}, language: "en", source: "", views: [] };

/** say("found", {n: 3}): "3 reviews found". Numbers get separators; a key with _1 serves the number 1. */
function say(key, values = {}) {
  const exact = values.n === 1 && speech.words[`${key}_1`] ? `${key}_1` : key;
  return speech.words[exact][speech.language].replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? count(value) : value;
  });
}

const count = (value) => value.toLocaleString("en");

/** A share in whole per cent; only nothing is 0 % and only everything is 100 %. */
function percent(part, whole) {
  if (!whole) return "–";
  const share = Math.round((100 * part) / whole);
  if (share === 0 && part) return "< 1 %";
  return share === 100 && part < whole ? "> 99 %" : `${share} %`;
}

/** "*bold* and soft" as elements. */
const emphasised = (text) => text.split("*").map((part, place) => (part ? el(place % 2 ? "b" : "span", { class: place % 2 ? null : "muted" }, part) : null));

const aspectName = (name) => name || say("no_aspect");

/** The name of a bin: short for the axis, long for sentences and tables. */
function periodName(start, unit, { long = false } = {}) {
  const day = new Date(`${start}T00:00:00Z`);
  const format = (options) => new Intl.DateTimeFormat(speech.language === "ko" ? "ko-KR" : "en-GB", { timeZone: "UTC", ...options }).format(day);
  const quarter = Math.floor(day.getUTCMonth() / 3) + 1;
  if (unit === "year") return long && speech.language === "ko" ? `${day.getUTCFullYear()}년` : String(day.getUTCFullYear());
  if (unit === "quarter") {
    const name = speech.language === "ko" ? `${quarter}분기` : `Q${quarter}`;
    return long ? (speech.language === "ko" ? `${day.getUTCFullYear()}년 ${name}` : `${name} ${day.getUTCFullYear()}`) : name;
  }
  if (unit === "month") return format(long ? { month: "long", year: "numeric" } : { month: "short" });
  const name = long ? format({ day: "numeric", month: "long", year: "numeric" })
    : speech.language === "ko" ? `${day.getUTCMonth() + 1}.${day.getUTCDate()}` : format({ day: "numeric", month: "short" });
  return unit === "week" && long ? say("week_of", { day: name }) : name;
}

const yearName = (start) => (speech.language === "ko" ? `${start.slice(0, 4)}년` : start.slice(0, 4));

function sayPage() {
  const root = document.documentElement;
  root.lang = speech.language;
  root.dataset.words = speech.language;
  document.title = [say("page_title"), speech.source].filter(Boolean).join(" · ");
  for (const node of document.querySelectorAll("[data-say]")) {
    node.textContent = say(node.dataset.say, node.dataset.values ? JSON.parse(node.dataset.values) : {});
  }
  for (const node of document.querySelectorAll("[data-say-label]")) {
    node.setAttribute("aria-label", say(node.dataset.sayLabel, node.dataset.what ? { what: say(node.dataset.what) } : {}));
  }
  for (const node of document.querySelectorAll("[data-say-hint]")) node.setAttribute("placeholder", say(node.dataset.sayHint));
  const button = byId("language");
  button.textContent = say("other_language");
  button.lang = speech.language === "ko" ? "en" : "ko";
  for (const draw of speech.views) draw();
}

/** Choices kept in local storage. If the browser denies storage, they last until the page is closed. */
const kept = {
  get(key) {
    try { return window.localStorage.getItem(key); } catch { return null; }
  },
  set(key, value) {
    try { window.localStorage.setItem(key, value); } catch { /* denied: the choice is not kept */ }
  },
};

function startLanguage() {
  byId("language").addEventListener("click", () => {
    speech.language = speech.language === "ko" ? "en" : "ko";
    sayPage();
  });
}

function startTheme() {
  const themes = ["auto", "light", "dark"];
  const root = document.documentElement;
  const show = () => { byId("theme-name").textContent = say(`theme_${root.dataset.theme}`); };
  const theme = kept.get("episodic-absa-theme");
  if (themes.includes(theme)) root.dataset.theme = theme;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    kept.set("episodic-absa-theme", root.dataset.theme);
    show();
  });
  speech.views.push(show);
}
