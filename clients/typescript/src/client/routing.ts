import { Delivered, MessageType, PeerList, PeersQuery, Publication, Relay, type Peer } from "../messages/control.js";
import type { Caller } from "../session/caller.js";
import type { Handlers } from "../session/handlers.js";
import type { CallOptions } from "../session/request.js";
import { TopicBuffer, type TopicMessage } from "./topic-buffer.js";
import type { Topics } from "./topics.js";

/** A message that a peer has sent to this client's routing id. */
export interface RelayedMessage {
  /** The application's type of the body. */
  readonly type: number;
  readonly body: Uint8Array;
  /** The sender's routing id; empty if it has none. */
  readonly from: string;
}

/** How to read a topic. */
export interface ReadTopicOptions extends CallOptions {
  /** Messages that may wait for the reader; the oldest is dropped when there are more. Defaults to 256. */
  readonly capacity?: number | undefined;
  /** Called when the server has confirmed: messages published from then on are read. */
  readonly onSubscribed?: (() => void) | undefined;
}

/** Messages between clients, through their server. Which of them it serves is up to its options. */
export class Routing {
  readonly #caller: Caller;
  readonly #topics: Topics;
  readonly #relayed = new Map<number, (message: RelayedMessage) => void>();

  constructor(caller: Caller, handlers: Handlers, topics: Topics) {
    this.#caller = caller;
    this.#topics = topics;
    handlers.add(MessageType.Relay, {
      kind: "unary",
      run: (body) => {
        const { type, body: content, from } = Relay.decode(body);
        this.#relayed.get(type)?.({ type, body: content, from });
      },
    });
    handlers.add(MessageType.Publish, {
      kind: "unary", run: (body) => this.#topics.receive({ ...Publication.decode(body), dropped: 0 }),
    });
  }

  /**
   * Sends a message to the peer with a routing id. Returns when its queue at the server has the message.
   * @throws FastPortError `NotFound`: no peer has the id.
   */
  async relay(to: string, type: number, body: Uint8Array, options?: CallOptions): Promise<void> {
    await this.#caller.request(MessageType.Relay, Relay.encode({ to, type, body }), options);
  }

  /** As `relay`. Nothing tells whether the message arrived. */
  relayOneWay(to: string, type: number, body: Uint8Array, options?: CallOptions): Promise<void> {
    return this.#caller.send(MessageType.Relay, Relay.encode({ to, type, body }), options);
  }

  /** Handles the relayed messages of one type, in place of the handler before. Register handlers before `connect`. */
  onRelayed(type: number, handler: (message: RelayedMessage) => void): void {
    this.#relayed.set(type, handler);
  }

  /** Publishes a message. Returns the number of sessions whose queues at the server have taken it. */
  publish(topic: string, type: number, body: Uint8Array, options?: CallOptions): Promise<number> {
    const message = Publication.encode({ topic, type, body });
    return this.#caller.requestAs(MessageType.Publish, message, (reply) => Delivered.decode(reply).sessions, options);
  }

  /** As `publish`, without an answer. */
  publishOneWay(topic: string, type: number, body: Uint8Array, options?: CallOptions): Promise<void> {
    return this.#caller.send(MessageType.Publish, Publication.encode({ topic, type, body }), options);
  }

  /**
   * Subscribes to all topics with a prefix. The subscription outlives the connection; messages published in between are missed.
   * @returns Ends the subscription: the handler is not called any more. Its promise resolves when the server has ended it, too.
   * @throws FastPortError The server has refused, or no reply came: the client is not subscribed.
   */
  async subscribe(prefix: string, handler: (message: TopicMessage) => void, options: CallOptions = {}): Promise<() => Promise<void>> {
    const receiver = { receive: handler, end: () => {} };
    await this.#topics.add(prefix, receiver, options);
    return () => this.#topics.remove(prefix, receiver);
  }

  /**
   * Reads the messages of all topics with a prefix. The first message that is asked for subscribes; leaving the loop ends the subscription.
   * The connection does not wait for the reader: `dropped` of a message says how many are missing before it. The loop outlives the
   * connection, and ends when the client is closed.
   */
  async *readTopic(prefix: string, options: ReadTopicOptions = {}): AsyncGenerator<TopicMessage, void, undefined> {
    const buffer = new TopicBuffer(options.capacity ?? 256);
    await this.#topics.add(prefix, buffer, options);
    try {
      options.onSubscribed?.();
      for (let message; (message = await buffer.next(options.signal)); ) {
        yield message;
      }
    } finally {
      void this.#topics.remove(prefix, buffer);
    }
  }

  /** Lists the peers whose routing ids begin with a prefix, in the order of their ids. */
  async *peers(prefix = "", options?: CallOptions): AsyncGenerator<Peer, void, undefined> {
    for (let after = ""; ; ) {
      const query = PeersQuery.encode({ prefix, after });
      const { peers } = await this.#caller.requestAs(MessageType.Peers, query, PeerList.decode, options);
      if (peers.length === 0) {
        return;
      }

      yield* peers;
      after = peers.at(-1)!.routingId;
    }
  }
}
