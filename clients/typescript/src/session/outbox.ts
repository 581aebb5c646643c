import { sizeOf, writeFrame, type FrameParts } from "../frames/encode.js";
import { Nothing } from "../frames/frame.js";
import type { Connection } from "../transports/transport.js";

/** An allocation for many small frames: one for each costs more than the frame. */
const ChunkSize = 16 * 1024;

/** The way out of a session: the frames of one turn go out together, and senders wait while too much is under way. */
export class Outbox {
  readonly #connection: Connection;
  readonly #limit: number;
  #chunk: Uint8Array = Nothing;
  #view: DataView = new DataView(Nothing.buffer);
  // The frames that have not been passed on.
  #start = 0;
  #end = 0;
  #room: Promise<void> | undefined;

  /** @param limit Bytes from which on senders wait. */
  constructor(connection: Connection, limit: number) {
    this.#connection = connection;
    this.#limit = limit;
  }

  send(frame: FrameParts): void {
    const size = sizeOf(frame);
    if (this.#end + size > this.#chunk.length) {
      this.flush();
      this.#chunk = new Uint8Array(Math.max(size, ChunkSize));
      this.#view = new DataView(this.#chunk.buffer);
      this.#start = this.#end = 0;
    }

    if (this.#start === this.#end) {
      queueMicrotask(() => this.flush());
    }

    this.#end = writeFrame(this.#chunk, this.#view, this.#end, frame);
  }

  flush(): void {
    const frames = this.#chunk.subarray(this.#start, this.#end);
    if (frames.length !== 0) {
      this.#start = this.#end;
      this.#connection.send(frames);
    }
  }

  /** Undefined if there is room; otherwise resolves when it may have come. */
  whenWritable(): Promise<void> | undefined {
    if (this.#end - this.#start + this.#connection.bufferedBytes < this.#limit) {
      return undefined;
    }

    this.flush();
    this.#room ??= this.#connection.drained().then(() => {
      this.#room = undefined;
    });
    return this.#room;
  }
}
