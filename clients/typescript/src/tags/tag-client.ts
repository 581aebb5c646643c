import type { FastPortClient } from "../client/client.js";
import { FastPortError } from "../errors.js";
import type { CallOptions } from "../session/request.js";
import type { Session } from "../session/types.js";
import { BrowseTags, BrowsedTags, ReadTags, ResolveTags, ResolvedTags, TagMessageType, WriteTags, WrittenTags } from "./messages.js";
import { Samples, atRow, columnsOf, samplesOf } from "./samples.js";
import { checkValue } from "./tag-check.js";
import { TagStatus, TagType, isBad, statusName } from "./tag-type.js";
import type { PublishedTag, TagPublication } from "./tag-publication.js";
import { TagPublications } from "./tag-publications.js";
import { sampleWithout, typed, type TagSample, type TagScalar, type TagValue } from "./tag-value.js";
import { TagUpdates, type TagChange, type WatchOptions } from "./tag-updates.js";

/** Time for a server that does not keep its own limit, in milliseconds. */
const Patience = 5000;

/** What a server knows about a tag. */
export interface TagInfo {
  readonly name: string;
  /** `Good`, or why there is no such tag. */
  readonly status: number;
  /** One of `TagType`; `Null` if it is unknown or varies. */
  readonly type: number;
  /** -1 for a scalar, 1 for an array, -2 if it varies. */
  readonly rank: number;
  readonly isReadable: boolean;
  readonly isWritable: boolean;
  readonly unit: string;
  readonly range: readonly [low: number, high: number] | undefined;
  readonly description: string;
}

/** A tag, a method, or a folder of them. */
export interface TagNode {
  /** The name of a tag or a method; of a folder the path to browse. */
  readonly name: string;
  readonly displayName: string;
  readonly kind: "folder" | "tag" | "method";
  readonly hasChildren: boolean;
}

/** Time limits of a read or a write. */
export interface TagCallOptions {
  /** Milliseconds after which tags have the status `BadTimeout`. Defaults to the server's limit, 5 s. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of a read. */
export interface TagReadOptions extends TagCallOptions {
  /** Accepts a value that was confirmed within this time, in milliseconds. Defaults to 0: the value from the device. */
  readonly maxAge?: number | undefined;
}

/** A tag with its handle in a session. */
export interface ResolvedTag extends TagInfo {
  readonly handle: number;
}

/** Reads, writes, browses, watches and publishes tags. One for each client. */
export class TagClient {
  readonly #client: FastPortClient;
  readonly #updates: TagUpdates;
  readonly #publications: TagPublications;
  // Handles belong to a session.
  readonly #resolved = new WeakMap<Session, Map<string, ResolvedTag>>();

  /** Registers the handlers of updates and writes: create it before `connect`. */
  constructor(client: FastPortClient) {
    this.#client = client;
    this.#updates = new TagUpdates(client, (session, names, options) => this.#resolve(session, names, options));
    this.#publications = new TagPublications(client);
  }

  /** Reads a tag. */
  async read(name: string, options?: TagReadOptions): Promise<TagSample> {
    return (await this.readMany([name], options))[0]!;
  }

  /** Reads tags, and returns their samples in the same order. A tag that does not exist has `BadNodeIdUnknown`. */
  readMany(names: readonly string[], { maxAge = 0, timeout, signal }: TagReadOptions = {}): Promise<TagSample[]> {
    return this.#client.onSession(async (session) => {
      const tags = await this.#resolve(session, names, { signal });
      const body = ReadTags.encode({ handles: handlesOf(tags), maxAgeMs: maxAge, timeoutMs: timeout ?? 0 });
      const decode = (reply: Uint8Array) => samplesOf(Samples.decode(reply));
      const samples = await session.requestAs(TagMessageType.Read, body, decode, callOptions(timeout, signal));
      return tags.map(({ handle, status }, i) => handle === 0 ? sampleWithout(status) : samples[i]!);
    }, { signal });
  }

  /**
   * Writes a tag, and returns its status. Nothing is written twice: after a lost connection, it is unknown whether it was written.
   * @param value A value with its type, or one of the tag's own type.
   * @throws RangeError The value is none of its type; nothing was written.
   */
  async write(name: string, value: TagValue | TagScalar | readonly TagScalar[], options?: TagCallOptions): Promise<number> {
    return (await this.writeMany([[name, value]], options))[0]!;
  }

  /** Writes tags, and returns their statuses in the same order. */
  writeMany(
    values: readonly (readonly [name: string, value: TagValue | TagScalar | readonly TagScalar[]])[],
    { timeout, signal }: TagCallOptions = {},
  ): Promise<number[]> {
    return this.#client.onSession(async (session) => {
      const tags = await this.#resolve(session, values.map(([name]) => name), { signal });
      const samples = columnsOf(values.map(([, value], i) => withType(value, tags[i]!)));
      const body = WriteTags.encode({ handles: handlesOf(tags), samples, timeoutMs: timeout ?? 0 });
      const decode = (reply: Uint8Array) => WrittenTags.decode(reply).statuses;
      const statuses = await session.requestAs(TagMessageType.Write, body, decode, callOptions(timeout, signal));
      return tags.map(({ handle, status }, i) => handle === 0 ? status : atRow(statuses, i) ?? TagStatus.Good);
    }, { signal });
  }

  /** What the server knows about tags. */
  async describe(names: readonly string[], options: CallOptions = {}): Promise<TagInfo[]> {
    const tags = await this.#client.onSession((session, timeout) => this.#resolve(session, names, { ...options, timeout }), options);
    return tags.map(({ handle: _, ...info }) => info);
  }

  /**
   * Lists the nodes below a path.
   * @param path Defaults to the root.
   * @throws Error The path cannot be browsed.
   */
  async *browse(path = "", options?: CallOptions): AsyncGenerator<TagNode, void, undefined> {
    let cursor = new Uint8Array(0);
    do {
      const reply = await this.#client.requestAs(
        TagMessageType.Browse, BrowseTags.encode({ path, cursor }), BrowsedTags.decode, options);
      if (isBad(reply.status)) {
        throw new Error(`'${path}' cannot be browsed: ${statusName(reply.status)}.`);
      }

      for (const { name, displayName, kind, hasChildren } of reply.nodes) {
        yield { name, displayName, kind: (["folder", "tag", "method"] as const)[kind] ?? "folder", hasChildren };
      }

      cursor = new Uint8Array(reply.cursor);
    } while (cursor.length !== 0);
  }

  /**
   * The changes of tags, beginning with the present sample of each. The loop outlives the connection: when it is lost, each tag has a
   * sample with `BadNoCommunication`, and after the reconnect the present ones. While the reader is slow, the server keeps the latest
   * sample of each tag, or as many as `queueSize`.
   * @throws FastPortError In the loop: the server has refused, or the client is closed.
   */
  watch(names: readonly string[], options: WatchOptions = {}): AsyncGenerator<TagChange, void, undefined> {
    return this.#updates.watch(names, options);
  }

  /**
   * Publishes tags: the server's other clients, and OPC UA clients of a bridge, can read and watch them, and write those that take writes.
   * They belong to the client's `routingId`, which it needs.
   * @throws FastPortError The server has refused, or no reply came. Which tags it has accepted, `statuses` of the publication tells.
   */
  publish(tags: readonly PublishedTag[], options: CallOptions = {}): Promise<TagPublication> {
    return this.#publications.publish(tags, options);
  }

  /** A name without a tag is asked for again each time. */
  async #resolve(session: Session, names: readonly string[], options: CallOptions): Promise<ResolvedTag[]> {
    const known = this.#resolved.get(session) ?? new Map<string, ResolvedTag>();
    this.#resolved.set(session, known);
    const missing = [...new Set(names)].filter((name) => !known.get(name)?.handle);
    if (missing.length !== 0) {
      const { tags } = await session.requestAs(
        TagMessageType.Resolve, ResolveTags.encode({ names: missing }), ResolvedTags.decode, options);
      if (tags.length !== missing.length) {
        throw new FastPortError(0, `The server answered a Resolve of ${missing.length} names with ${tags.length} tags.`);
      }

      for (const [i, { access, hasRange, low, high, ...tag }] of tags.entries()) {
        const name = missing[i]!;
        known.set(name, {
          ...tag, name, isReadable: (access & 1) !== 0, isWritable: (access & 2) !== 0, range: hasRange ? [low, high] : undefined,
        });
      }
    }

    return names.map((name) => known.get(name)!);
  }
}

function handlesOf(tags: readonly ResolvedTag[]): number[] {
  return tags.map(({ handle }) => handle);
}

function callOptions(timeout: number | undefined, signal: AbortSignal | undefined): CallOptions {
  return { signal, timeout: timeout === undefined ? undefined : timeout + Patience };
}

function withType(value: TagValue | TagScalar | readonly TagScalar[], { name, type }: ResolvedTag): TagValue {
  const whole = typed(value, type);
  if (whole.type === TagType.Null && whole.value !== null) {
    throw new RangeError(`The type of ${name} is not known; write a value with its type.`);
  }

  checkValue(name, whole);
  return whole;
}
