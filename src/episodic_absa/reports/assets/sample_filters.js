// What is asked for (condition, seed, words, flags) and which samples answer it. Pure: no element is touched.

const FILTERS = [
  { name: "changed", label: "Changed", hint: "final pairs differ from Stage1" },
  { name: "fixed", label: "Fixed", hint: "Stage1 wrong, final exactly gold" },
  { name: "broken", label: "Broken", hint: "Stage1 exactly gold, final not" },
  { name: "injected", label: "Memory shown", hint: "advice stood in a prompt" },
  { name: "blocked", label: "Blocked", hint: "advice that failed before was withheld" },
  { name: "failed", label: "Failed", hint: "the sample ended with an error" },
  { name: "differs", label: "A ≠ B", hint: "the two conditions give different answers", needsB: true },
  { name: "gained", label: "Only A exact", hint: "A equals gold, B does not", needsB: true },
  { name: "lost", label: "Only B exact", hint: "B equals gold, A does not", needsB: true },
];

function passes(data, row, filter, a, b) {
  if (filter === "differs") return b >= 0 && row.answers[a] !== row.answers[b];
  if (filter === "gained") return b >= 0 && data.has(row, a, "right") && !data.has(row, b, "right");
  if (filter === "lost") return b >= 0 && data.has(row, b, "right") && !data.has(row, a, "right");
  return data.has(row, a, filter);
}

/** Return {rows, counts}: samples that pass everything, and how many each filter alone would leave. */
function select(data, asked) {
  const a = data.cellOf(asked.a, asked.seed);
  const b = asked.b ? data.cellOf(asked.b, asked.seed) : -1;
  const words = asked.words.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = Object.fromEntries(FILTERS.map((filter) => [filter.name, 0]));
  const rows = [];
  for (const row of data.rows) {
    if (row.flags[a] < 0) continue;
    if (asked.language && row.language !== asked.language) continue;
    if (asked.domain && row.domain !== asked.domain) continue;
    if (!words.every((word) => row.haystack.includes(word))) continue;
    let keep = true;
    for (const { name } of FILTERS) {
      const passed = passes(data, row, name, a, b);
      if (passed) counts[name] += 1;
      else if (asked.filters.has(name)) keep = false;
    }
    if (keep) rows.push(row);
  }
  return { rows, counts };
}
