// Theme, language and the definitions of metrics. None of them needs the samples.

/** Choices kept in local storage. If the browser denies storage (private windows, file URLs), they last until reload. */
const remembered = {
  get(key) {
    try { return window.localStorage.getItem(key); } catch { return null; }
  },
  set(key, value) {
    try { window.localStorage.setItem(key, value); } catch { /* denied: the choice is not kept */ }
  },
};

const THEMES = { auto: ["auto", "자동"], light: ["light", "밝게"], dark: ["dark", "어둡게"] };

const languageListeners = [];

/** Call the listener whenever the reader changes the language. */
const onLanguage = (listener) => languageListeners.push(listener);

/** Attributes and titles of pictures: a style sheet cannot hide one language of them. */
function swapWords(language) {
  for (const name of ["aria-label", "placeholder", "title"]) {
    for (const node of document.querySelectorAll(`[data-ko-${name}]`)) {
      if (!node.hasAttribute(`data-en-${name}`)) node.setAttribute(`data-en-${name}`, node.getAttribute(name));
      node.setAttribute(name, node.getAttribute(`data-${language}-${name}`));
    }
  }
  for (const node of document.querySelectorAll("svg [data-ko]")) {
    if (!node.hasAttribute("data-en")) node.setAttribute("data-en", node.textContent);
    node.textContent = node.getAttribute(`data-${language}`);
  }
}

function startTheme() {
  const button = byId("theme");
  const themes = Object.keys(THEMES);
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    byId("theme-name").textContent = say(...THEMES[theme]);
  };
  const kept = remembered.get("episodic-absa-theme");
  show(themes.includes(kept) ? kept : "auto");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    show(next);
    remembered.set("episodic-absa-theme", next);
  });
  onLanguage(() => show(document.documentElement.dataset.theme));
}

function startLanguage() {
  const button = byId("language");
  const show = (language) => {
    document.documentElement.dataset.words = language;
    document.documentElement.lang = language;
    swapWords(language);
    for (const listener of languageListeners) listener();
    button.textContent = language === "ko" ? "English" : "한국어";
    button.lang = language === "ko" ? "en" : "ko";
  };
  const chosen = remembered.get("episodic-absa-words") ?? navigator.language;
  show(chosen.startsWith("ko") ? "ko" : "en");
  button.addEventListener("click", () => {
    const next = document.documentElement.dataset.words === "ko" ? "en" : "ko";
    show(next);
    remembered.set("episodic-absa-words", next);
  });
}

/** Definitions in a bubble: hover or focus shows it, a tap keeps it open, Escape or a tap elsewhere closes it. */
function startDefinitions() {
  const bubble = byId("bubble");
  let owner = null;
  let pinned = false;

  const close = () => {
    bubble.hidden = true;
    owner?.setAttribute("aria-expanded", "false");
    owner = null;
    pinned = false;
  };
  const place = () => {
    const at = owner.getBoundingClientRect();
    const room = document.documentElement.clientWidth - bubble.offsetWidth - 8;
    const fitsBelow = at.bottom + bubble.offsetHeight + 12 < window.innerHeight;
    bubble.style.left = `${Math.max(8, Math.min(at.left, room))}px`;
    bubble.style.top = `${fitsBelow ? at.bottom + 6 : Math.max(8, at.top - bubble.offsetHeight - 6)}px`;
  };
  const open = (button) => {
    const definition = byId(`def-${button.dataset.def}`);
    if (!definition) return;
    if (owner && owner !== button) close();
    owner = button;
    button.setAttribute("aria-expanded", "true");
    bubble.replaceChildren(...[...definition.children].map((paragraph) => paragraph.cloneNode(true)));
    bubble.hidden = false;
    place();
  };

  for (const button of document.querySelectorAll("button[data-def]")) {
    button.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") open(button); });
    button.addEventListener("pointerleave", () => { if (!pinned && document.activeElement !== button) close(); });
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) open(button); });
    button.addEventListener("blur", close);
    button.addEventListener("click", () => {
      if (owner === button && pinned) return close();
      open(button);
      pinned = true;
    });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  document.addEventListener("pointerdown", (event) => {
    if (owner && !owner.contains(event.target) && !bubble.contains(event.target)) close();
  });
  // Moving the focus may scroll the page; an open bubble then follows its button.
  window.addEventListener("scroll", () => {
    if (!owner) return;
    if (pinned || document.activeElement === owner) place();
    else close();
  }, { passive: true });
}
