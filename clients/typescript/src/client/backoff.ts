import { whenAborted } from "../session/aborts.js";

const LeastGood = 1000;
const SurelyGood = 10_000;

/**
 * The delays between attempts to connect, in milliseconds: none before the first, then doubling up to a maximum. Each has jitter of plus or
 * minus a quarter, so that the clients of a restarted server do not come at the same time.
 */
export class Backoff {
  readonly #first: number;
  readonly #longest: number;
  readonly #random: () => number;
  #next = 0;

  constructor(first: number, longest: number, random: () => number = Math.random) {
    this.#first = first;
    this.#longest = longest;
    this.#random = random;
  }

  /** The delay before the next attempt. */
  next(): number {
    const delay = this.#next;
    this.#next = delay === 0 ? this.#first : Math.min(delay * 2, this.#longest);
    return delay * (0.75 + this.#random() / 2);
  }

  /** A connection has ended: starts over if it lasted long enough. A server that drops each one at once is not tried in a tight loop. */
  resetAfter(connected: number): void {
    if (connected >= Math.min(Math.max(this.#next, LeastGood), SurelyGood, this.#longest)) {
      this.#next = 0;
    }
  }
}

/** Waits, until the signal is aborted. */
export function delay(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      stopWatching();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      stopWatching();
      resolve();
    }, time);
    const stopWatching = whenAborted(signal, onAbort);
    if (signal.aborted) {
      onAbort();
    }
  });
}
