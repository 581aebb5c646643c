import { Backoff, delay } from "../client/backoff.js";
import type { FastPortClient } from "../client/client.js";
import { FastPortError } from "../errors.js";
import type { CallOptions } from "../session/request.js";
import { within } from "../session/time-limit.js";
import type { Session } from "../session/types.js";
import { DeclareTags, DeclaredTags, PushTags, TagMessageType, WrittenTags } from "./messages.js";
import { Samples, atRow, columnsOf } from "./samples.js";
import { checkValue } from "./tag-check.js";
import { TagStatus, timeOf } from "./tag-type.js";
import { sampleWithout, typed, type TagSample, type TagScalar, type TagValue } from "./tag-value.js";

const TagsPerRequest = 1000;
const FirstDelay = 100;
const LongestDelay = 5000;

/** A tag to publish. */
export interface PublishedTag {
  readonly name: string;
  /** One of `TagType`. It never changes. */
  readonly type: number;
  /** -1 for a scalar, otherwise the number of dimensions. Defaults to -1. */
  readonly rank?: number | undefined;
  readonly unit?: string | undefined;
  readonly range?: readonly [low: number, high: number] | undefined;
  readonly description?: string | undefined;
  /** The first value. Defaults to none: the tag is `BadWaitingForInitialData`. */
  readonly value?: TagScalar | readonly TagScalar[] | undefined;
  /**
   * Takes a value that another client has written, and returns a status, or nothing for `Good`. A good value becomes that of the tag,
   * unless this sets another one. Defaults to none: the tag cannot be written.
   */
  readonly onWrite?: ((value: TagValue) => number | void | Promise<number | void>) | undefined;
}

/** A tag with its latest sample. */
interface Entry {
  readonly tag: PublishedTag;
  sample: TagSample;
  status: number;
  handle: number;
}

/**
 * Tags that a client publishes. They outlive its connection: after a reconnect they are declared and sent again. A slow server gets the
 * latest value of each tag.
 */
export interface TagPublication {
  /** The server's last answer for each tag, such as `BadNodeIdExists` or `BadTypeMismatch`. */
  readonly statuses: ReadonlyMap<string, number>;

  /**
   * Sets the value of a tag. It is sent soon, with other changes.
   * @param quality Defaults to `Good`, and to the time of the call.
   * @throws Error The publication has no such tag, or the value is none of its type.
   */
  set(
    name: string, value: TagValue | TagScalar | readonly TagScalar[], quality?: Partial<Pick<TagSample, "status" | "sourceTime">>,
  ): void;

  /** Ends the publication: the tags keep their last values with `BadNoCommunication`. Never fails. */
  close(): Promise<void>;
}

/** A publication, for the client that has made it. */
export class Publication implements TagPublication {
  readonly #client: FastPortClient;
  readonly #entries: Map<string, Entry>;
  readonly #byHandle = new Map<number, Entry>();
  readonly #onClosed: () => void;
  readonly #closing = new AbortController();
  readonly #changed = new Set<Entry>();
  #session: Session | undefined;
  #flushing: Promise<void> | undefined;

  constructor(client: FastPortClient, tags: readonly PublishedTag[], onClosed: () => void) {
    this.#client = client;
    this.#onClosed = onClosed;
    this.#entries = new Map(tags.map((tag) => [tag.name, {
      tag, status: TagStatus.BadNoCommunication, handle: 0,
      sample: tag.value === undefined ? sampleWithout(TagStatus.BadWaitingForInitialData) : sampleOf(tag, tag.value),
    }]));
  }

  get statuses(): ReadonlyMap<string, number> {
    return new Map([...this.#entries].map(([name, { status }]) => [name, status]));
  }

  set(name: string, value: TagValue | TagScalar | readonly TagScalar[], quality?: Partial<Pick<TagSample, "status" | "sourceTime">>): void {
    const entry = this.#entries.get(name);
    if (!entry) {
      throw new RangeError(`The publication has no tag ${name}.`);
    }

    entry.sample = { ...sampleOf(entry.tag, value), ...quality };
    this.#changed.add(entry);
    void this.flush();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The publication was closed."));
    this.#onClosed();
    await this.#flushing;
    const session = this.#session;
    if (session) {
      const entries = [...this.#byHandle.values()];
      entries.forEach((entry) => (entry.sample = sampleWithout(TagStatus.BadNoCommunication)));
      await this.#push(session, entries).catch(() => {}); // The session has ended: the server knows.
    }
  }

  /** Declares the tags and sends their values, on the present session and on each one to come. */
  async begin(options: CallOptions): Promise<void> {
    const session = await this.#client.onSession(async (session, timeout) => {
      await this.#declare(session, { ...options, timeout });
      await within(this.flush(), timeout, options.signal, () => `The server did not take the tags in ${timeout} ms.`);
      return session;
    }, options);
    void this.#stayDeclared(session);
  }

  has(session: Session, handle: number): boolean {
    return this.#session === session && this.#byHandle.has(handle);
  }

  /** Passes a write of another client on, and returns its status. */
  async write(handle: number, { type, value, isArray, dimensions }: TagSample): Promise<number> {
    const entry = this.#byHandle.get(handle)!;
    const { tag, sample } = entry;
    if (!tag.onWrite) {
      return TagStatus.BadNotWritable;
    }

    try {
      const written: TagValue = { type, value, ...(isArray && { isArray }), ...(dimensions && { dimensions }) };
      const status = (await tag.onWrite(written)) ?? TagStatus.Good;
      if (status === TagStatus.Good && entry.sample === sample) {
        this.set(tag.name, written);
      }

      return status;
    } catch (e) {
      console.error(`The write of ${tag.name} has failed:`, e);
      return TagStatus.BadInternalError;
    }
  }

  /** Sends what has changed. Resolves when the server has it, or the session has ended. */
  flush(): Promise<void> {
    return this.#flushing ??= this.#pushChanges();
  }

  async #pushChanges(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff(FirstDelay, LongestDelay);
    await undefined; // For the other changes of this turn.
    for (let session; (session = this.#session) && this.#changed.size !== 0 && !signal.aborted; ) {
      const entries = [...this.#changed].filter(({ handle }) => handle !== 0);
      this.#changed.clear();
      try {
        await this.#push(session, entries);
        backoff.resetAfter(Infinity);
      } catch {
        entries.forEach((entry) => this.#changed.add(entry));
        await Promise.race([session.closed, delay(backoff.next(), signal).catch(() => {})]);
      }
    }

    this.#flushing = undefined;
  }

  async #push(session: Session, entries: readonly Entry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += TagsPerRequest) {
      await this.#pushTogether(session, entries.slice(at, at + TagsPerRequest));
    }
  }

  /** What does not fit into a frame goes in two. */
  async #pushTogether(session: Session, entries: readonly Entry[]): Promise<void> {
    const samples = entries.map(({ sample }) => sample);
    const body = PushTags.encode({
      handles: entries.map(({ handle }) => handle),
      samples: {
        ...columnsOf(samples), statuses: samples.map(({ status }) => status), sourceTimes: samples.map(({ sourceTime }) => sourceTime),
      },
    });
    try {
      const { statuses } = await session.requestAs(TagMessageType.Push, body, WrittenTags.decode);
      entries.forEach((entry, i) => (entry.status = atRow(statuses, i) ?? TagStatus.Good));
    } catch (e) {
      if (!(e instanceof RangeError)) {
        throw e;
      } else if (entries.length > 1) {
        const half = Math.ceil(entries.length / 2);
        await this.#pushTogether(session, entries.slice(0, half));
        await this.#pushTogether(session, entries.slice(half));
      } else {
        entries[0]!.sample = sampleWithout(TagStatus.BadEncodingLimitsExceeded);
        await this.#pushTogether(session, entries);
      }
    }
  }

  async #declare(session: Session, options: CallOptions): Promise<void> {
    const entries = [...this.#entries.values()];
    for (let at = 0; at < entries.length; at += TagsPerRequest) {
      const part = entries.slice(at, at + TagsPerRequest);
      const body = DeclareTags.encode({ tags: part.map(({ tag }) => declared(tag)) });
      const { handles, statuses } = await session.requestAs(TagMessageType.Declare, body, DeclaredTags.decode, options);
      part.forEach((entry, i) => {
        entry.handle = handles[i] ?? 0;
        entry.status = atRow(statuses, i) ?? TagStatus.Good;
      });
    }

    this.#byHandle.clear();
    for (const entry of entries) {
      this.#byHandle.set(entry.handle, entry);
      this.#changed.add(entry);
    }

    this.#byHandle.delete(0);
    this.#session = session;
    void session.closed.then(() => {
      if (this.#session === session) {
        this.#session = undefined;
      }
    });
    void this.flush();
  }

  /** Declares the tags on each session of the client, until the publication is closed or the client. */
  async #stayDeclared(first: Session): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff(FirstDelay, LongestDelay);
    let session = first;
    for (;;) {
      try {
        if (this.#session === session) {
          await within(session.closed, 0, signal);
        }

        session = await this.#client.whenConnected({ timeout: 0, signal });
        await this.#declare(session, { signal });
        backoff.resetAfter(Infinity);
      } catch (e) {
        if (signal.aborted || (e instanceof FastPortError && e.failure === "closed")) {
          return;
        }

        await delay(backoff.next(), signal).catch(() => {});
      }
    }
  }
}

/** @throws Error It is no value of its type. Found out later, it would hold up all others. */
function sampleOf(tag: PublishedTag, value: TagValue | TagScalar | readonly TagScalar[]): TagSample {
  const whole = typed(value, tag.type);
  checkValue(tag.name, whole);
  Samples.encode(columnsOf([whole]));
  return { ...whole, status: TagStatus.Good, sourceTime: timeOf(new Date()), serverTime: 0n };
}

function declared({ name, type, rank = -1, unit = "", range, description = "", onWrite }: PublishedTag) {
  const [low = 0, high = 0] = range ?? [];
  return { name, type, rank, access: onWrite ? 3 : 1, unit, hasRange: range !== undefined, low, high, description };
}
