import { ErrorCode, FastPortError } from "../errors.js";
import { MessageType, Topic } from "../messages/control.js";
import type { Caller } from "../session/caller.js";
import type { CallOptions } from "../session/request.js";
import type { FrameSession } from "../session/session.js";
import { TimeLimit, within } from "../session/time-limit.js";
import { Backoff, delay } from "./backoff.js";
import type { CompleteOptions } from "./options.js";
import type { TopicMessage, TopicReceiver } from "./topic-buffer.js";

const LongestDelay = 30_000;

interface Subscription {
  readonly prefix: string;
  readonly receivers: Set<TopicReceiver>;
  /** Changes of the subscription at the server are made one after the other. */
  turn: Promise<unknown>;
}

/** The subscriptions of a client. They outlive its sessions. All receivers of a prefix share one subscription at the server. */
export class Topics {
  readonly #caller: Caller;
  readonly #options: CompleteOptions;
  readonly #closing: AbortSignal;
  readonly #subscriptions = new Map<string, Subscription>();
  #end: { error: Error | undefined } | undefined;

  /** @param closing Aborted when the client is closed. */
  constructor(caller: Caller, options: CompleteOptions, closing: AbortSignal) {
    this.#caller = caller;
    this.#options = options;
    this.#closing = closing;
  }

  /**
   * Passes a publication to the receivers of all its prefixes.
   * @throws AggregateError Receivers have failed; the others have it.
   */
  receive(message: TopicMessage): void {
    const failures: unknown[] = [];
    for (const { prefix, receivers } of this.#subscriptions.values()) {
      for (const receiver of message.topic.startsWith(prefix) ? receivers : []) {
        try {
          receiver.receive(message);
        } catch (e) {
          failures.push(e);
        }
      }
    }

    if (failures.length !== 0) {
      throw new AggregateError(failures, `Receivers of the topic ${message.topic} have failed.`);
    }
  }

  /** Subscribes a receiver. If this fails, it is not subscribed. */
  async add(prefix: string, receiver: TopicReceiver, options: CallOptions): Promise<void> {
    // Added first: messages can arrive before the reply.
    const subscription = this.#subscriptions.get(prefix) ?? { prefix, receivers: new Set(), turn: Promise.resolve() };
    this.#subscriptions.set(prefix, subscription);
    subscription.receivers.add(receiver);
    if (this.#end) {
      receiver.end(this.#end.error);
    }

    try {
      await this.#inTurn(subscription, options, (left) => this.#change(MessageType.Subscribe, prefix, left));
    } catch (e) {
      void this.remove(prefix, receiver);
      throw e;
    }
  }

  /** Ends the subscription of a receiver. Resolves when the server has ended its part, if it was the last one; never fails. */
  async remove(prefix: string, receiver: TopicReceiver): Promise<void> {
    const subscription = this.#subscriptions.get(prefix);
    if (subscription?.receivers.delete(receiver) && subscription.receivers.size === 0) {
      await this.#endUnused(subscription);
    }
  }

  /**
   * Subscribes a new session to all prefixes, before calls use it. What the server refuses for now is asked for again later.
   * @throws Error The session was lost.
   */
  async subscribeAgain(session: FrameSession): Promise<void> {
    const prefixes = [...this.#subscriptions.values()].filter(({ receivers }) => receivers.size !== 0).map(({ prefix }) => prefix);
    await Promise.all(prefixes.map(async (prefix) => {
      const timeout = this.#options.connectTimeout;
      const refusal = await session.request(MessageType.Subscribe, Topic.encode({ prefix }), { timeout }).catch((e: unknown) => e);
      if (isRefusal(refusal)) {
        void this.#subscribeLater(session, prefix, refusal);
      } else if (refusal instanceof Error) {
        throw refusal;
      }
    }));
  }

  /** There are no more sessions. */
  endAll(error: Error | undefined): void {
    this.#end ??= { error };
    for (const { receivers } of this.#subscriptions.values()) {
      receivers.forEach((receiver) => receiver.end(error));
    }
  }

  /** The change makes no difference if it is made twice: it is made again if the connection is lost meanwhile. */
  async #change(type: number, prefix: string, options: CallOptions): Promise<void> {
    const limit = new TimeLimit(options.timeout ?? this.#options.requestTimeout);
    for (;;) {
      try {
        await this.#caller.request(type, Topic.encode({ prefix }), { ...options, timeout: limit.left });
        return;
      } catch (e) {
        if (!(e instanceof FastPortError && e.failure === "connection-lost" && this.#options.reconnect)) {
          throw e;
        }
      }
    }
  }

  async #inTurn(subscription: Subscription, options: CallOptions, change: (left: CallOptions) => Promise<void>): Promise<void> {
    const limit = new TimeLimit(options.timeout ?? this.#options.requestTimeout);
    const before = subscription.turn;
    const turn = within(before, limit.left, options.signal).then(() => change({ ...options, timeout: limit.left }));
    subscription.turn = Promise.allSettled([before, turn]);
    await turn;
  }

  /** Tries until the server has ended the subscription, it is used again, or the client ends. */
  async #endUnused(subscription: Subscription): Promise<void> {
    const { prefix, receivers } = subscription;
    const backoff = this.#backoff();
    try {
      while (!(await this.#tryEnd(subscription))) {
        await delay(backoff.next(), this.#closing);
      }
    } catch {
      // The client was closed.
    }

    if (receivers.size === 0 && this.#subscriptions.get(prefix) === subscription) {
      this.#subscriptions.delete(prefix);
    }
  }

  /** False if a later attempt may succeed. */
  async #tryEnd(subscription: Subscription): Promise<boolean> {
    try {
      await this.#inTurn(subscription, { signal: this.#closing }, async (left) => {
        if (subscription.receivers.size === 0) {
          await this.#change(MessageType.Unsubscribe, subscription.prefix, left);
        }
      });
      return true;
    } catch (e) {
      return !isPassing(e);
    }
  }

  async #subscribeLater(session: FrameSession, prefix: string, refusal: FastPortError): Promise<void> {
    const backoff = this.#backoff();
    let error: unknown = refusal;
    while (isRefusal(error) && isPassing(error)) {
      try {
        await delay(backoff.next(), this.#closing);
        if (!this.#subscriptions.get(prefix)?.receivers.size) {
          return;
        }

        error = await session.request(MessageType.Subscribe, Topic.encode({ prefix }));
      } catch (e) {
        error = e;
      }
    }
  }

  #backoff(): Backoff {
    const backoff = new Backoff(this.#options.reconnectDelay, LongestDelay);
    backoff.next();
    return backoff;
  }
}

function isRefusal(error: unknown): error is FastPortError {
  return error instanceof FastPortError && error.failure === undefined;
}

/** Whether the server may do later what it has refused, or not answered. */
function isPassing(error: unknown): boolean {
  return error instanceof FastPortError && (error.failure === undefined
    ? ![ErrorCode.Forbidden, ErrorCode.MalformedBody, ErrorCode.UnknownType].some((code) => code === error.code)
    : error.failure === "timed-out");
}
