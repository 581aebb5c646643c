import { failed, type Failure, type FastPortError } from "../errors.js";
import type { FrameSession } from "../session/session.js";

/** The session of a client's calls, or the reason why there is none. */
export class SessionSlot {
  #current: FrameSession | undefined;
  #none: FastPortError | undefined = failed("not-connected", "The client is not connected: call connect first.");
  #waiting: { resolve: (session: FrameSession) => void; reject: (error: Error) => void }[] = [];

  get current(): FrameSession | undefined {
    return this.#current?.isOpen ? this.#current : undefined;
  }

  /** The session now, or the next one. */
  get(): Promise<FrameSession> {
    const { current } = this;
    return this.#none ? Promise.reject(this.#none)
      : current ? Promise.resolve(current)
      : new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** The client is connecting: calls wait. Ignored after `refuse` with `closed`. */
  expect(): void {
    if (this.#none?.failure === "not-connected") {
      this.#none = undefined;
    }
  }

  enter(session: FrameSession): void {
    this.#current = session;
    this.#waiting.splice(0).forEach(({ resolve }) => resolve(session));
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
      this.#waiting.splice(0).forEach(({ reject }) => reject(none));
    }
  }
}
