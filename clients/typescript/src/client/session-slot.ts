import { failed, type Failure, type FastPortError } from "../errors.js";
import type { FrameSession } from "../session/session.js";
import { NotTaken, within } from "../session/time-limit.js";

/** The session of a client's calls, or the reason why there is none. */
export class SessionSlot {
  #current: FrameSession | undefined;
  #none: FastPortError | undefined = failed("not-connected", "The client is not connected: call connect first.");
  #lastFailure: string | undefined;
  readonly #waiting = new Set<{ resolve: (session: FrameSession) => void; reject: (error: Error) => void }>();

  get current(): FrameSession | undefined {
    return this.#current?.isOpen ? this.#current : undefined;
  }

  /**
   * The session now, or the next one. Nothing is left of a caller that no longer waits: there may be many until a server is back.
   * @param time Milliseconds; 0 for no limit.
   * @throws FastPortError There is none to wait for, or none in time.
   */
  async get(time: number, signal: AbortSignal | undefined): Promise<FrameSession> {
    if (this.#none) {
      throw this.#none;
    }

    if (this.current) {
      return this.current;
    }

    let waiting!: { resolve: (session: FrameSession) => void; reject: (error: Error) => void };
    const next = new Promise<FrameSession>((resolve, reject) => this.#waiting.add(waiting = { resolve, reject }));
    try {
      return await within(next, time, signal, () =>
        this.#lastFailure === undefined ? NotTaken : `${NotTaken} The last attempt failed: ${this.#lastFailure}`);
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** The client is connecting: calls wait. Ignored after `refuse` with `closed`. */
  expect(): void {
    if (this.#none?.failure === "not-connected") {
      this.#none = undefined;
    }
  }

  /** An attempt to connect has failed, and there will be another: calls wait. */
  failed(message: string): void {
    this.#lastFailure = message;
  }

  enter(session: FrameSession): void {
    this.#current = session;
    this.#lastFailure = undefined;
    this.#waiting.forEach(({ resolve }) => resolve(session));
  }

  /** The session takes no more calls: they wait for the next one. */
  retire(session: FrameSession): void {
    if (this.#current === session) {
      this.#current = undefined;
    }
  }

  /** There is no session to wait for: calls that wait fail, and new ones. After `closed`, this stays so. */
  refuse(failure: Failure, message: string): void {
    if (this.#none?.failure !== "closed") {
      const none = (this.#none = failed(failure, message));
      this.#waiting.forEach(({ reject }) => reject(none));
    }
  }
}
