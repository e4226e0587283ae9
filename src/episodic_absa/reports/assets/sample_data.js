// The samples are compressed in the page. The index is unpacked at the start, a block of details when it is needed.

async function unpack(element) {
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

class SampleData {
  constructor(index) {
    this.cells = index.cells.map(([condition, seed, order = 0]) => ({ condition, order, seed }));
    this.first = index.first;
    this.hasText = index.text;
    this.bit = Object.fromEntries(index.flags.map((name, place) => [name, 1 << place]));
    this.rows = index.rows.map(([uid, text, language, domain, caseType, flags, answers], place) => ({
      place, uid, text, language, domain, caseType, flags, answers,
      lang: language === "other" ? null : language, // the lang attribute: a language tag, or none
      searched: `${uid}\n${text}`.toLowerCase(),
    }));
    this.placeOf = new Map(this.rows.map((row) => [row.uid, row.place]));
    this.per = index.per;
    this.blocks = new Map();
  }

  get conditions() {
    return [...new Set(this.cells.map((cell) => cell.condition))];
  }

  get orders() {
    return [...new Set(this.cells.map((cell) => cell.order))].sort((left, right) => left - right);
  }

  get seeds() {
    return [...new Set(this.cells.map((cell) => cell.seed))].sort((left, right) => left - right);
  }

  /** The index of the cell, -1 if it was not run; another order or seed is another trial and never replaces it. */
  cellOf(condition, { order, seed }) {
    return this.cells.findIndex((cell) => cell.condition === condition && cell.order === order && cell.seed === seed);
  }

  /** The first order and seed that all conditions were run with, else the first of the first condition. */
  firstTrial(...conditions) {
    const trials = this.orders.flatMap((order) => this.seeds.map((seed) => ({ order, seed })));
    const shared = trials.find((trial) => conditions.every((condition) => this.cellOf(condition, trial) >= 0));
    return shared ?? trials.find((trial) => this.cellOf(conditions[0], trial) >= 0);
  }

  holds(row, cell) {
    return cell >= 0 && row.flags[cell] >= 0;
  }

  has(row, cell, flag) {
    return this.holds(row, cell) && (row.flags[cell] & this.bit[flag]) !== 0;
  }

  succeeded(row, cell) {
    return this.holds(row, cell) && !this.has(row, cell, "failed");
  }

  /** The details of one review: {gold, in(cell) -> {analysis, memory, cost} or null}. */
  async details(row) {
    const block = Math.floor(row.place / this.per);
    // The map keeps the promise, so that two requests for the same block share the work.
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
