import { whenAborted } from "../session/aborts.js";

/** Items that wait for one reader. */
export class Queue<T> {
  #items: T[] = [];
  #end: { error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  get length(): number {
    return this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  dropOldest(): void {
    this.#items.shift();
  }

  /** No further item comes: the reader gets what there is, then the error if there is one. Only the first call counts. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /**
   * The next item; undefined at the end.
   * @throws Error The queue has ended with it, or the signal's reason.
   */
  async next(signal?: AbortSignal): Promise<T | undefined> {
    const stopWatching = whenAborted(signal, () => this.#wake?.());
    while (this.#items.length === 0 && !this.#end && !signal?.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }

    stopWatching();
    signal?.throwIfAborted();
    if (this.#items.length === 0 && this.#end?.error) {
      throw this.#end.error;
    }

    return this.#items.shift();
  }
}
