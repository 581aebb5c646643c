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

interface Slot {
  readonly correlation: number;
  readonly call: PendingCall;
}

/**
 * The calls that this side has made and that have not ended. Each has the slot of its correlation's lowest bits, and a new one takes the
 * next correlation whose slot is free. A Map would copy all calls in flight to a new table every few calls, and keep them from being
 * collected.
 */
export class Calls {
  readonly #onEmpty: () => void;
  #slots: (Slot | undefined)[] = new Array(64).fill(undefined);
  #size = 0;
  #last = 0;

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#size;
  }

  /** Gives a call its correlation: never 0, nor that of an open call. */
  add(call: PendingCall): number {
    if (this.#size * 2 >= this.#slots.length) {
      this.#grow();
    }

    do {
      this.#last = this.#last === 0xffff_ffff ? 1 : this.#last + 1;
    } while (this.#slots[this.#indexOf(this.#last)]);

    this.#slots[this.#indexOf(this.#last)] = { correlation: this.#last, call };
    this.#size++;
    return this.#last;
  }

  remove(correlation: number): void {
    if (this.#find(correlation)) {
      this.#slots[this.#indexOf(correlation)] = undefined;
      this.#size--;
      if (this.#size === 0) {
        this.#onEmpty();
      }
    }
  }

  onReply(frame: Frame): void {
    const call = this.#find(frame.correlation);
    if (call?.type === frame.type) {
      call.onReply(frame);
    }
  }

  onCredit(grant: CreditMessage): void {
    this.#find(grant.correlation)?.onCredit?.(grant);
  }

  failAll(error: Error): void {
    for (const slot of [...this.#slots]) {
      slot?.call.onLost(error);
    }
  }

  #find(correlation: number): PendingCall | undefined {
    const slot = this.#slots[this.#indexOf(correlation)];
    return slot?.correlation === correlation ? slot.call : undefined;
  }

  /** The size is a power of two. */
  #indexOf(correlation: number): number {
    return correlation & (this.#slots.length - 1);
  }

  #grow(): void {
    const slots = this.#slots;
    this.#slots = new Array(2 * slots.length).fill(undefined);
    for (const slot of slots) {
      if (slot) {
        this.#slots[this.#indexOf(slot.correlation)] = slot;
      }
    }
  }
}
