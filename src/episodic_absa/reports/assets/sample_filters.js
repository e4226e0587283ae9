// Selects the samples that match a query (conditions, order, seed, words, flags). Pure functions: no element is touched.

const FILTERS = [
  { name: "missed", label: ["Missed", "누락"], hint: ["a gold pair has no partner", "짝이 없는 정답 쌍이 있습니다"] },
  { name: "spurious", label: ["Spurious", "과잉"], hint: ["a predicted pair has no partner", "짝이 없는 예측 쌍이 있습니다"] },
  { name: "boundary", label: ["Boundary", "경계 오류"], hint: ["a predicted term overlaps a gold term and differs", "예측 용어가 정답 용어와 겹치지만 다릅니다"] },
  { name: "polarity", label: ["Polarity", "극성 오류"], hint: ["a gold term has another polarity", "정답 용어의 극성이 다릅니다"] },
  { name: "changed", label: ["Changed", "변경"], hint: ["final pairs differ from the Stage1 pairs", "최종 쌍이 Stage1 쌍과 다릅니다"] },
  { name: "fixed", label: ["Fixed", "교정"], hint: ["Stage1 differs from gold, final equals gold", "Stage1은 정답과 다르고 최종은 정답과 같습니다"] },
  { name: "broken", label: ["Broken", "손상"], hint: ["Stage1 equals gold, final differs from gold", "Stage1은 정답과 같고 최종은 정답과 다릅니다"] },
  { name: "injected", label: ["Memory shown", "메모리 제시"], hint: ["a prompt contained memory", "프롬프트에 메모리가 있었습니다"] },
  { name: "blocked", label: ["Blocked", "차단"], hint: ["advice was withheld because it had failed before", "전에 실패한 조언을 제시하지 않았습니다"] },
  { name: "failed", label: ["Failed", "실패"], hint: ["the sample failed with an error", "샘플이 오류로 실패했습니다"] },
  { name: "differs", label: ["A ≠ B", "A ≠ B"], hint: ["both succeeded, and their final pairs differ", "둘 다 성공했고 최종 쌍이 다릅니다"], needsB: true },
  { name: "gained", label: ["Only A exact", "A만 완전 일치"], hint: ["A equals gold; B succeeded and differs from gold", "A는 정답과 같고, B는 성공했으나 정답과 다릅니다"], needsB: true },
  { name: "lost", label: ["Only B exact", "B만 완전 일치"], hint: ["B equals gold; A succeeded and differs from gold", "B는 정답과 같고, A는 성공했으나 정답과 다릅니다"], needsB: true },
];

/** Return whether a sample passes a filter. A and B are compared by final pairs if both succeeded, as `compare` does. */
function passes(data, row, { name, needsB }, a, b) {
  if (!needsB) return data.has(row, a, name);
  if (!data.succeeded(row, a) || !data.succeeded(row, b)) return false;
  if (name === "differs") return row.answers[a] !== row.answers[b];
  const [exact, inexact] = name === "gained" ? [a, b] : [b, a];
  return data.has(row, exact, "right") && !data.has(row, inexact, "right");
}

/** Return a sentence per chosen condition that was not run with the chosen order and seed. */
function notRun(data, query) {
  const hasOrders = data.orders.length > 1;
  const trial = hasOrders ? `order ${query.order}, seed ${query.seed}` : `seed ${query.seed}`;
  const trialKo = hasOrders ? `순서 ${query.order}, 시드 ${query.seed}` : `시드 ${query.seed}`;
  return [...new Set([query.a, query.b])]
    .filter((name) => name && data.cellOf(name, query) < 0)
    .map((name) => say(`${name} was not run with ${trial}`, `${name}: ${trialKo}(으)로 실행하지 않았습니다`));
}

/** Return {rows, counts}: the samples that pass all filters, and the number that pass each single filter. */
function select(data, query) {
  const a = data.cellOf(query.a, query);
  const b = query.b ? data.cellOf(query.b, query) : -1;
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
