import type { Frame } from "../frames/frame.js";
import type { CreditMessage } from "../messages/control.js";

/** A request of this side that waits for its reply, or a stream that this side has opened. */
export interface PendingCall {
  readonly type: number;
  onReply(frame: Frame): void;
  onCredit?(grant: CreditMessage): void;
  /** The session has ended: no reply can come. */
  onLost(error: Error): void;
}

/** The calls that this side has made and that have not ended. */
export class Calls {
  readonly #calls = new Map<number, PendingCall>();
  readonly #onEmpty: () => void;
  #last = 0;

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Gives a call its correlation: never 0, nor that of an open call. */
  add(call: PendingCall): number {
    do {
      this.#last = this.#last === 0xffff_ffff ? 1 : this.#last + 1;
    } while (this.#calls.has(this.#last));

    this.#calls.set(this.#last, call);
    return this.#last;
  }

  remove(correlation: number): void {
    if (this.#calls.delete(correlation) && this.#calls.size === 0) {
      this.#onEmpty();
    }
  }

  onReply(frame: Frame): void {
    const call = this.#calls.get(frame.correlation);
    if (call?.type === frame.type) {
      call.onReply(frame);
    }
  }

  onCredit(grant: CreditMessage): void {
    this.#calls.get(grant.correlation)?.onCredit?.(grant);
  }

  failAll(error: Error): void {
    for (const call of [...this.#calls.values()]) {
      call.onLost(error);
    }
  }
}
