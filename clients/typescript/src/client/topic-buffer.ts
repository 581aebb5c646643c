import { Queue } from "./queue.js";

/** A message that was published under a topic. */
export interface TopicMessage {
  readonly topic: string;
  /** The application's type of the body. */
  readonly type: number;
  readonly body: Uint8Array;
  /** The publisher's routing id; empty if it has none. */
  readonly from: string;
  /** How many messages were dropped before this one, because the reader was too slow. */
  readonly dropped: number;
}

/** What a topic's messages are passed to. */
export interface TopicReceiver {
  receive(message: TopicMessage): void;
  /** No further message comes; the error is undefined if the program has closed the client. */
  end(error: Error | undefined): void;
}

/** The messages that wait for the reader of a topic. The connection does not wait: a full buffer drops its oldest message. */
export class TopicBuffer implements TopicReceiver {
  readonly #capacity: number;
  readonly #messages = new Queue<TopicMessage>();
  #dropped = 0;

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity);
  }

  receive(message: TopicMessage): void {
    if (this.#messages.length === this.#capacity) {
      this.#messages.dropOldest();
      this.#dropped += 1;
    }

    this.#messages.push(message);
  }

  end(error: Error | undefined): void {
    this.#messages.end(error);
  }

  /** The next message; undefined at the end. */
  async next(signal: AbortSignal | undefined): Promise<TopicMessage | undefined> {
    const message = await this.#messages.next(signal);
    const dropped = this.#dropped;
    this.#dropped = 0;
    return message && { ...message, dropped };
  }
}
