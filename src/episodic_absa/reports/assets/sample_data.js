// The samples lie compressed in the page: the index is unpacked at once, details a block at a time when asked for.

async function unpack(element) {
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

class SampleData {
  constructor(index) {
    this.cells = index.cells.map(([condition, seed]) => ({ condition, seed }));
    this.first = index.first;
    this.hasText = index.text;
    this.bit = Object.fromEntries(index.flags.map((name, place) => [name, 1 << place]));
    this.rows = index.rows.map(([uid, text, language, domain, caseType, flags, answers], place) => ({
      place, uid, text, language, domain, caseType, flags, answers,
      lang: language === "other" ? null : language, // what the browser is told: a tag, or nothing
      // Searched for: what one would type, whatever its case.
      haystack: `${uid}\n${text}`.toLowerCase(),
    }));
    this.placeOf = new Map(this.rows.map((row) => [row.uid, row.place]));
    this.per = index.per;
    this.blocks = new Map();
  }

  get conditions() {
    return [...new Set(this.cells.map((cell) => cell.condition))];
  }

  get seeds() {
    return [...new Set(this.cells.map((cell) => cell.seed))].sort((one, other) => one - other);
  }

  /** Where a condition with a seed stands, -1 where it was not run: another seed is another trial, never a stand-in. */
  cellOf(condition, seed) {
    return this.cells.findIndex((cell) => cell.condition === condition && cell.seed === seed);
  }

  /** The first seed that all of these conditions were run with, else the first of the first of them. */
  firstSeed(...conditions) {
    const shared = this.seeds.find((seed) => conditions.every((one) => this.cellOf(one, seed) >= 0));
    return shared ?? this.seeds.find((seed) => this.cellOf(conditions[0], seed) >= 0);
  }

  holds(row, cell) {
    return cell >= 0 && row.flags[cell] >= 0;
  }

  has(row, cell, flag) {
    return this.holds(row, cell) && (row.flags[cell] & this.bit[flag]) !== 0;
  }

  endedWell(row, cell) {
    return this.holds(row, cell) && !this.has(row, cell, "failed");
  }

  /** One review in full: {gold, in(cell) -> {analysis, memory, cost} or null}. */
  async details(row) {
    const block = Math.floor(row.place / this.per);
    // The promise is kept, not the value: two requests for a block that is being unpacked share the work.
    if (!this.blocks.has(block)) this.blocks.set(block, unpack(byId(`block-${block}`)));
    const review = (await this.blocks.get(block))[row.place % this.per];
    return {
      gold: review.gold,
      in(cell) {
        const place = cell < 0 ? null : review.cells[cell];
        if (!place) return null;
        const [analysis, memory, cost] = place;
        return { analysis: review.analyses[analysis], memory: review.memories[memory], cost };
      },
    };
  }
}
