/** Looks until a condition holds; fails after 30 s, which is long enough for any busy machine. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > end) {
      throw new Error(`After 30 s: ${what}.`);
    }

    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A promise and how to settle it. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}
