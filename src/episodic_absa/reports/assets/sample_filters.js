// What is asked for (condition, seed, words, flags) and which samples answer it. Pure: no element is touched.

const FILTERS = [
  { name: "changed", label: "Changed", hint: "final pairs differ from Stage1" },
  { name: "fixed", label: "Fixed", hint: "Stage1 wrong, final exactly gold" },
  { name: "broken", label: "Broken", hint: "Stage1 exactly gold, final not" },
  { name: "injected", label: "Memory shown", hint: "advice stood in a prompt" },
  { name: "blocked", label: "Blocked", hint: "advice that failed before was withheld" },
  { name: "failed", label: "Failed", hint: "the sample ended with an error" },
  { name: "differs", label: "A ≠ B", hint: "both ended well, and their final pairs differ", needsB: true },
  { name: "gained", label: "Only A exact", hint: "A equals gold; B ended well and does not", needsB: true },
  { name: "lost", label: "Only B exact", hint: "B equals gold; A ended well and does not", needsB: true },
];

/** Two conditions are compared where both ended well, by final pairs alone, as `compare` does. */
function passes(data, row, { name, needsB }, a, b) {
  if (!needsB) return data.has(row, a, name);
  if (!data.endedWell(row, a) || !data.endedWell(row, b)) return false;
  if (name === "differs") return row.answers[a] !== row.answers[b];
  const [one, other] = name === "gained" ? [a, b] : [b, a];
  return data.has(row, one, "right") && !data.has(row, other, "right");
}

/** Say which of the chosen conditions were not run with the chosen seed. */
function notRun(data, asked) {
  return [...new Set([asked.a, asked.b])]
    .filter((name) => name && data.cellOf(name, asked.seed) < 0)
    .map((name) => `${name} was not run with seed ${asked.seed}`);
}

/** Return {rows, counts}: samples that pass everything, and how many each filter alone would leave. */
function select(data, asked) {
  const a = data.cellOf(asked.a, asked.seed);
  const b = asked.b ? data.cellOf(asked.b, asked.seed) : -1;
  const words = asked.words.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = Object.fromEntries(FILTERS.map((filter) => [filter.name, 0]));
  const rows = [];
  for (const row of data.rows) {
    if (!data.holds(row, a)) continue;
    if (asked.language && row.language !== asked.language) continue;
    if (asked.domain && row.domain !== asked.domain) continue;
    if (!words.every((word) => row.haystack.includes(word))) continue;
    let keep = true;
    for (const filter of FILTERS) {
      if (passes(data, row, filter, a, b)) counts[filter.name] += 1;
      else if (asked.filters.has(filter.name)) keep = false;
    }
    if (keep) rows.push(row);
  }
  return { rows, counts };
}
