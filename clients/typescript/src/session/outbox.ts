import { concat } from "../frames/encode.js";
import type { Connection } from "../transports/transport.js";

/** The way out of a session: the frames of one turn go out together, and senders wait while too much is under way. */
export class Outbox {
  readonly #connection: Connection;
  readonly #limit: number;
  #frames: Uint8Array[] = [];
  #size = 0;
  #room: Promise<void> | undefined;

  /** @param limit Bytes from which on senders wait. */
  constructor(connection: Connection, limit: number) {
    this.#connection = connection;
    this.#limit = limit;
  }

  send(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#size += frame.length;
    if (this.#frames.length === 1) {
      queueMicrotask(() => this.flush());
    }
  }

  flush(): void {
    const frames = this.#frames;
    if (frames.length !== 0) {
      this.#frames = [];
      this.#size = 0;
      this.#connection.send(frames.length === 1 ? frames[0]! : concat(frames));
    }
  }

  /** Undefined if there is room; otherwise resolves when it may have come. */
  whenWritable(): Promise<void> | undefined {
    if (this.#size + this.#connection.bufferedBytes < this.#limit) {
      return undefined;
    }

    this.flush();
    this.#room ??= this.#connection.drained().then(() => {
      this.#room = undefined;
    });
    return this.#room;
  }
}
