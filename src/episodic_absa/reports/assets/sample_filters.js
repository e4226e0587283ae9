// Selects the samples that match a query (conditions, seed, words, flags). Pure functions: no element is touched.

const FILTERS = [
  { name: "changed", label: "Changed", hint: "final pairs differ from the Stage1 pairs" },
  { name: "fixed", label: "Fixed", hint: "Stage1 differs from gold, final equals gold" },
  { name: "broken", label: "Broken", hint: "Stage1 equals gold, final differs from gold" },
  { name: "injected", label: "Memory shown", hint: "a prompt contained memory" },
  { name: "blocked", label: "Blocked", hint: "advice was withheld because it had failed before" },
  { name: "failed", label: "Failed", hint: "the sample failed with an error" },
  { name: "differs", label: "A ≠ B", hint: "both succeeded, and their final pairs differ", needsB: true },
  { name: "gained", label: "Only A exact", hint: "A equals gold; B succeeded and differs from gold", needsB: true },
  { name: "lost", label: "Only B exact", hint: "B equals gold; A succeeded and differs from gold", needsB: true },
];

/** Return whether a sample passes a filter. A and B are compared by final pairs if both succeeded, as `compare` does. */
function passes(data, row, { name, needsB }, a, b) {
  if (!needsB) return data.has(row, a, name);
  if (!data.succeeded(row, a) || !data.succeeded(row, b)) return false;
  if (name === "differs") return row.answers[a] !== row.answers[b];
  const [exact, inexact] = name === "gained" ? [a, b] : [b, a];
  return data.has(row, exact, "right") && !data.has(row, inexact, "right");
}

/** Return a sentence per chosen condition that was not run with the chosen seed. */
function notRun(data, query) {
  return [...new Set([query.a, query.b])]
    .filter((name) => name && data.cellOf(name, query.seed) < 0)
    .map((name) => `${name} was not run with seed ${query.seed}`);
}

/** Return {rows, counts}: the samples that pass all filters, and the number that pass each single filter. */
function select(data, query) {
  const a = data.cellOf(query.a, query.seed);
  const b = query.b ? data.cellOf(query.b, query.seed) : -1;
  const words = query.words.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = Object.fromEntries(FILTERS.map((filter) => [filter.name, 0]));
  const rows = [];
  for (const row of data.rows) {
    if (!data.holds(row, a)) continue;
    if (query.language && row.language !== query.language) continue;
    if (query.domain && row.domain !== query.domain) continue;
    if (!words.every((word) => row.searched.includes(word))) continue;
    let keep = true;
    for (const filter of FILTERS) {
      if (passes(data, row, filter, a, b)) counts[filter.name] += 1;
      else if (query.filters.has(filter.name)) keep = false;
    }
    if (keep) rows.push(row);
  }
  return { rows, counts };
}
