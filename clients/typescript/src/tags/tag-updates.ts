import type { FastPortClient } from "../client/client.js";
import { Queue } from "../client/queue.js";
import { FastPortError } from "../errors.js";
import type { MessageOf } from "../messages/fields.js";
import type { CallOptions } from "../session/request.js";
import type { Session } from "../session/types.js";
import { AcknowledgeUpdates, SubscribeTags, SubscribedTags, TagMessageType, TagUpdate, UnsubscribeTags } from "./messages.js";
import { samplesOf } from "./samples.js";
import type { ResolvedTag } from "./tag-client.js";
import { TagStatus } from "./tag-type.js";
import { sampleWithout, type TagSample } from "./tag-value.js";

/** How to watch tags. */
export interface WatchOptions {
  /** Least time between updates, in milliseconds. Defaults to the server's, 1 s. */
  readonly interval?: number | undefined;
  /** Samples of a tag that may wait at the server; the oldest are dropped. Defaults to 1: the latest one. */
  readonly queueSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A new sample of a tag. */
export interface TagChange {
  readonly name: string;
  readonly sample: TagSample;
  /** Samples of all watched tags that were dropped before this one, because the reader was too slow. */
  readonly dropped: number;
}

type Update = MessageOf<typeof TagUpdate>;
type Resolver = (session: Session, names: readonly string[], options: CallOptions) => Promise<ResolvedTag[]>;

/** A subscription in a session. */
interface Subscription {
  readonly session: Session;
  readonly number: number;
  readonly updates: Queue<Update>;
  readonly names: ReadonlyMap<number, string>;
  /** Tags that the server does not report, with the reason. */
  readonly refused: readonly TagChange[];
}

/** The subscriptions of a client to tags. */
export class TagUpdates {
  readonly #client: FastPortClient;
  readonly #resolve: Resolver;
  readonly #queues = new WeakMap<Session, Map<number, Queue<Update>>>();

  constructor(client: FastPortClient, resolve: Resolver) {
    this.#client = client;
    this.#resolve = resolve;
    client.handle(TagMessageType.Update, (body, { session }) => {
      const update = TagUpdate.decode(body);
      this.#queues.get(session)?.get(update.subscription)?.push(update);
    });
  }

  async *watch(names: readonly string[], options: WatchOptions): AsyncGenerator<TagChange, void, undefined> {
    for (;;) {
      const subscription = await this.#subscribeOnNext(names, options);
      if (!subscription) {
        continue;
      }

      const { session } = subscription;
      try {
        yield* subscription.refused;
        yield* this.#changes(subscription, options.signal);
      } finally {
        this.#queues.get(session)?.delete(subscription.number);
        const body = UnsubscribeTags.encode({ subscription: subscription.number });
        session.request(TagMessageType.Unsubscribe, body).catch(() => {});
      }

      yield* names.map((name) => ({ name, sample: sampleWithout(TagStatus.BadNoCommunication), dropped: 0 }));
    }
  }

  /** Undefined if the session was lost meanwhile. */
  async #subscribeOnNext(names: readonly string[], options: WatchOptions): Promise<Subscription | undefined> {
    try {
      return await this.#client.onSession((session) => this.#subscribe(session, names, options), { timeout: 0, signal: options.signal });
    } catch (e) {
      if (e instanceof FastPortError && e.failure === "connection-lost") {
        return undefined;
      }

      throw e;
    }
  }

  async *#changes({ session, number: subscription, updates, names }: Subscription, signal: AbortSignal | undefined) {
    for (let update; (update = await updates.next(signal)); ) {
      const { number, handles, samples, dropped } = update;
      // Part of no trace.
      session.send(TagMessageType.Acknowledge, AcknowledgeUpdates.encode({ subscription, number }), { traceparent: "" }).catch(() => {});
      let before = dropped;
      for (const [i, sample] of (samples ? samplesOf(samples) : []).entries()) {
        const name = names.get(handles[i] ?? 0);
        if (name !== undefined) {
          yield { name, sample, dropped: before };
          before = 0;
        }
      }
    }
  }

  async #subscribe(session: Session, names: readonly string[], options: WatchOptions): Promise<Subscription> {
    const { interval = 0, queueSize = 0, signal } = options;
    const tags = await this.#resolve(session, names, { signal });
    const found = tags.filter(({ handle }) => handle !== 0);
    const updates = new Queue<Update>();
    const body = SubscribeTags.encode({ handles: found.map(({ handle }) => handle), intervalMs: interval, queueSize });
    const queues = this.#queuesOf(session);
    // Updates can come in the same bytes as the reply.
    const number = await session.requestAs(TagMessageType.Subscribe, body, (reply) => {
      const { subscription } = SubscribedTags.decode(reply);
      queues.set(subscription, updates);
      return subscription;
    }, { signal });
    return {
      session,
      number,
      updates,
      names: new Map(found.map(({ handle, name }) => [handle, name])),
      refused: tags.filter(({ handle }) => handle === 0).map(({ name, status }) => ({ name, sample: sampleWithout(status), dropped: 0 })),
    };
  }

  /** One callback of a session ends all of its queues: one for each watch would stay until the session ends. */
  #queuesOf(session: Session): Map<number, Queue<Update>> {
    let queues = this.#queues.get(session);
    if (!queues) {
      const all = queues = new Map<number, Queue<Update>>();
      this.#queues.set(session, all);
      void session.closed.then(() => all.forEach((queue) => queue.end()));
    }

    return queues;
  }
}
