import { Extension } from "../frames/frame.js";
import { failed } from "../errors.js";
import { whenAborted } from "./aborts.js";
import type { Link } from "./link.js";

/** The longest time that timers measure, in milliseconds. */
export const MaxTimer = 2 ** 31 - 1;
const MaxDeadline = 2 ** 32 - 1;
export const NotTaken = "No connection took the call in time.";

/** Calls back after a time in milliseconds; never for 0, nor for a time that timers cannot measure. */
export function startTimer(time: number, then: () => void): ReturnType<typeof setTimeout> | undefined {
  return time === 0 || time > MaxTimer ? undefined : setTimeout(then, time);
}

/** The deadline block of a request: the time it may take in milliseconds, if it is limited and the peer knows the block. */
export function deadlineOf(time: number, link: Link): number | undefined {
  return time !== 0 && link.extensions & Extension.Calls ? Math.min(Math.ceil(time), MaxDeadline) : undefined;
}

/** The time limit of a call that waits before it is sent. */
export class TimeLimit {
  readonly #end: number;

  /** @param time Milliseconds; 0 for no limit. */
  constructor(time: number) {
    this.#end = time === 0 ? Infinity : performance.now() + time;
  }

  /**
   * Milliseconds that are left; 0 for no limit.
   * @throws FastPortError `timed-out`, if nothing is left.
   */
  get left(): number {
    const left = this.#end - performance.now();
    if (left <= 0) {
      throw failed("timed-out", NotTaken);
    }

    return left === Infinity ? 0 : left;
  }
}

/**
 * Waits for a promise, at most for a time in milliseconds, 0 for no limit, or until the signal is aborted.
 * @throws FastPortError `timed-out`, or the signal's reason.
 */
export function within<T>(promise: Promise<T>, time: number, signal?: AbortSignal, what = () => NotTaken): Promise<T> {
  return new Promise((resolve, reject) => {
    // Not when the promise settles, which it may never do: a timer keeps a process alive.
    const end = () => {
      clearTimeout(timer);
      stopWatching();
    };
    const fail = (reason: unknown) => {
      end();
      reject(reason);
    };
    const onAbort = () => fail(signal!.reason);
    const timer = startTimer(time, () => fail(failed("timed-out", what())));
    const stopWatching = whenAborted(signal, onAbort);
    if (signal?.aborted) {
      onAbort();
    }

    promise.then((value) => {
      end();
      resolve(value);
    }, fail);
  });
}
