const Shared = new WeakMap<AbortSignal, { readonly calls: Set<() => void>; readonly listener: () => void }>();

/**
 * Calls back when a signal is aborted. All calls of a signal share a listener: of more than ten, Node.js warns as of a leak.
 * @returns Ends this.
 */
export function whenAborted(signal: AbortSignal | undefined, call: () => void): () => void {
  if (!signal) {
    return nothing;
  }

  let shared = Shared.get(signal);
  if (!shared) {
    const calls = new Set<() => void>();
    shared = { calls, listener: () => [...calls].forEach((one) => one()) };
    Shared.set(signal, shared);
    signal.addEventListener("abort", shared.listener);
  }

  const { calls, listener } = shared;
  calls.add(call);
  return () => {
    // A signal with a listener is not collected.
    if (calls.delete(call) && calls.size === 0) {
      Shared.delete(signal);
      signal.removeEventListener("abort", listener);
    }
  };
}

function nothing(): void {}
