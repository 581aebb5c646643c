/** Pseudo-random numbers of a seed (mulberry32), for tests that repeat. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.below(256));
  }

  /** One of the items. */
  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}
