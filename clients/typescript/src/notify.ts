/** Calls the program back. What it throws is an uncaught exception of its own, and ends nothing here. */
export function notify(callback: () => void): void {
  try {
    callback();
  } catch (e) {
    queueMicrotask(() => {
      throw e;
    });
  }
}
