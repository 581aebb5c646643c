/** How much of one direction of a stream may be under way or wait for its reader. */
export interface StreamWindow {
  readonly messages: number;
  /** Bytes of the items' bodies; the last item may exceed it. */
  readonly bytes: number;
}

/** The window of a direction that does not stream. */
export const NoWindow: StreamWindow = { messages: 0, bytes: 0 };

const Done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/** The items of a stream that have arrived, for one reader. What the reader has consumed is granted to the sender again. */
export class Inflow implements AsyncIterableIterator<Uint8Array> {
  readonly #window: StreamWindow;
  readonly #grant: (messages: number, bytes: number) => void;
  #items: Uint8Array[] = [];
  #reader: { resolve: (result: IteratorResult<Uint8Array, undefined>) => void; reject: (error: unknown) => void } | undefined;
  #end: { error: unknown } | undefined;

  // The credit that the sender still has.
  #messages: number;
  #bytes: number;

  // What was consumed and not granted again.
  #consumedMessages = 0;
  #consumedBytes = 0;

  /**
   * @param window What the sender was granted at first.
   * @param grant Grants more.
   */
  constructor(window: StreamWindow, grant: (messages: number, bytes: number) => void) {
    this.#window = window;
    this.#grant = grant;
    this.#messages = window.messages;
    this.#bytes = window.bytes;
  }

  /** Takes an item that has arrived. False if the sender had no credit for it. */
  add(item: Uint8Array): boolean {
    if (this.#messages < 1 || this.#bytes <= 0) {
      return false;
    }

    this.#messages -= 1;
    this.#bytes -= item.length;
    this.#deliver(item);
    return true;
  }

  /** Takes the only item of a direction that does not stream, which needs no credit. */
  last(item: Uint8Array): void {
    this.#deliver(item);
  }

  /** The stream has ended: the reader gets what has arrived before, then the error if there is one. Only the first call counts. */
  end(error?: unknown): void {
    if (this.#end) {
      return;
    }

    const reader = this.#reader;
    this.#reader = undefined;
    this.#end = { error: reader ? undefined : error };
    if (error === undefined) {
      reader?.resolve(Done);
    } else {
      reader?.reject(error);
    }
  }

  /** Drops the items that wait for the reader. */
  clear(): void {
    this.#items = [];
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const item = this.#items.shift();
    if (item) {
      this.#consume(item);
      return { done: false, value: item };
    }

    if (!this.#end) {
      return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
    }

    const { error } = this.#end;
    this.#end = { error: undefined };
    if (error !== undefined) {
      throw error;
    }

    return Done;
  }

  /** The reader has left: the sender gets no more credit. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.clear();
    this.end();
    return Done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #deliver(item: Uint8Array): void {
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      this.#consume(item);
      reader.resolve({ done: false, value: item });
    } else if (!this.#end) {
      this.#items.push(item);
    }
  }

  #consume(item: Uint8Array): void {
    this.#consumedMessages += 1;
    this.#consumedBytes += item.length;
    const { messages, bytes } = this.#window;
    if (!this.#end && messages > 0 && (this.#consumedMessages * 2 >= messages || this.#consumedBytes * 2 >= bytes)) {
      this.#messages += this.#consumedMessages;
      this.#bytes += this.#consumedBytes;
      this.#grant(this.#consumedMessages, this.#consumedBytes);
      this.#consumedMessages = this.#consumedBytes = 0;
    }
  }
}
