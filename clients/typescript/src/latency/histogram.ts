const SubBits = 6;
const Sub = 2 ** SubBits;

/**
 * Counts whole numbers of 0 and more in buckets whose width grows with the value: percentiles are at most 1/64 too high. It grows to about
 * 10 KB for latencies of seconds in nanoseconds.
 */
export class Histogram {
  #counts = new Float64Array(Sub);
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  /** The lowest value; 0 if there is none. */
  get min(): number {
    return this.#count === 0 ? 0 : this.#min;
  }

  get max(): number {
    return this.#max;
  }

  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }

  /** Counts a value. A negative one counts as 0, and one that is not exact as the highest that is: times of a peer may be anything. */
  record(value: number): void {
    const whole = Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER);
    const index = indexOf(whole);
    if (index >= this.#counts.length) {
      const grown = new Float64Array(Math.ceil((index + 1) / Sub) * Sub);
      grown.set(this.#counts);
      this.#counts = grown;
    }

    this.#counts[index]! += 1;
    this.#count += 1;
    this.#sum += whole;
    this.#min = Math.min(this.#min, whole);
    this.#max = Math.max(this.#max, whole);
  }

  /**
   * The value that a share of all values does not exceed.
   * @param percent 0 to 100.
   */
  percentile(percent: number): number {
    let left = Math.max(1, Math.ceil((this.#count * percent) / 100));
    for (let i = 0; i < this.#counts.length; i++) {
      left -= this.#counts[i]!;
      if (left <= 0) {
        return Math.min(highestOf(i), this.#max);
      }
    }

    return this.#max;
  }

  /** Forgets all values. */
  reset(): void {
    this.#counts.fill(0);
    this.#count = this.#sum = this.#max = 0;
    this.#min = Infinity;
  }
}

// Values below 64 have a bucket each. Above, each power of two has 64 buckets.
function indexOf(value: number): number {
  if (value < Sub) {
    return value;
  }

  const exponent = exponentOf(value) - SubBits;
  return exponent * Sub + Math.floor(value / 2 ** exponent);
}

function highestOf(index: number): number {
  if (index < 2 * Sub) {
    return index;
  }

  const exponent = Math.floor(index / Sub) - 1;
  return (index - exponent * Sub + 1) * 2 ** exponent - 1;
}

// Math.log2 is not exact near powers of two.
function exponentOf(value: number): number {
  const high = Math.floor(value / 2 ** 31);
  return high === 0 ? 31 - Math.clz32(value) : 62 - Math.clz32(high);
}
