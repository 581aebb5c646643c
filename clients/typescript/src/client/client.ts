import { ErrorCode, FastPortError } from "../errors.js";
import { Nothing } from "../frames/frame.js";
import { Latencies } from "../latency/latencies.js";
import type { Caller, StreamOptions } from "../session/caller.js";
import { Handlers, type Handler, type TypeHandler } from "../session/handlers.js";
import type { CallOptions } from "../session/request.js";
import type { FrameSession } from "../session/session.js";
import { TimeLimit } from "../session/time-limit.js";
import type { Session } from "../session/types.js";
import type { Items } from "../streams/pump.js";
import type { StreamCall } from "../streams/stream-call.js";
import { Connector } from "./connector.js";
import { complete, type ClientOptions, type CompleteOptions } from "./options.js";
import { Routing } from "./routing.js";
import { Topics } from "./topics.js";

/** A client of one server. It carries many calls at a time over one connection, and reconnects until it is closed. */
export class FastPortClient implements Caller {
  /** The latencies of all requests. */
  readonly latencies = new Latencies();
  /** Messages between clients, by routing id and topic. */
  readonly routing: Routing;
  readonly #options: CompleteOptions;
  readonly #handlers: Handlers;
  readonly #connector: Connector;

  /** @throws RangeError A number is out of range, or a token would cross the network unencrypted. */
  constructor(options: ClientOptions) {
    this.#options = complete(options);
    this.#handlers = new Handlers(this.#options.onHandlerError);
    this.#connector = new Connector(this.#options, { ...this.#options, handlers: this.#handlers, latencies: this.latencies }, {
      opened: (session) => topics.subscribeAgain(session),
      ended: (error) => topics.endAll(error),
    });
    const topics = new Topics(this, this.#options, this.#connector.closing);
    this.routing = new Routing(this, this.#handlers, topics);
  }

  /** The session now; undefined while there is none. */
  get session(): Session | undefined {
    return this.#connector.slot.current;
  }

  /**
   * Connects. With `retryConnect` it tries until there is a server; otherwise once, and may be called again when it has failed.
   * @throws Error The attempt has failed.
   */
  connect(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#connector.connect(options.signal);
  }

  /** Says Goodbye, waits for calls in flight up to `closeTimeout`, and ends the connection. */
  close(): Promise<void> {
    return this.#connector.close();
  }

  /** The session now, or the next one. */
  whenConnected(options: CallOptions = {}): Promise<Session> {
    return this.#whenConnected(new TimeLimit(options.timeout ?? this.#options.requestTimeout), options.signal);
  }

  /**
   * Handles messages of the server of one type: requests and one-way messages. Register handlers before `connect`.
   * @throws RangeError The type has a handler.
   */
  handle(type: number, handler: Handler): void {
    this.handleAs(type, { kind: "unary", run: handler });
  }

  /** As `handle`, also for calls that stream. */
  handleAs(type: number, handler: TypeHandler): void {
    this.#handlers.add(type, handler);
  }

  request(type: number, body: Uint8Array = Nothing, options?: CallOptions): Promise<Uint8Array> {
    return this.requestAs(type, body, (reply) => reply, options);
  }

  requestAs<T>(type: number, body: Uint8Array, decode: (body: Uint8Array) => T, options: CallOptions = {}): Promise<T> {
    const traceparent = this.#traceparentOf(options);
    return this.onSession((session, timeout) => session.requestAs(type, body, decode, { ...options, traceparent, timeout }), options);
  }

  async send(type: number, body: Uint8Array = Nothing, options: CallOptions = {}): Promise<void> {
    const traceparent = this.#traceparentOf(options);
    await this.onSession((session, timeout) => session.send(type, body, { ...options, traceparent, timeout }), options);
  }

  /**
   * Makes a call on the session, with the milliseconds that are left for it. It is made again on the next session if this one did not send
   * it, or if the server is stopping and has not run it.
   */
  async onSession<T>(call: (session: Session, timeout: number) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const limit = new TimeLimit(options.timeout ?? this.#options.requestTimeout);
    for (;;) {
      options.signal?.throwIfAborted();
      const session = this.#connector.slot.current ?? await this.#whenConnected(limit, options.signal);
      try {
        return await call(session, limit.left);
      } catch (e) {
        if (!(e instanceof FastPortError) || !this.#goesToNext(e)) {
          throw e;
        }

        session.leave();
        this.#connector.slot.retire(session);
      }
    }
  }

  async *stream(
    type: number, requests: Uint8Array | Items<Uint8Array>, options: StreamOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* (await this.#open(type, requests, true, options)).readAll();
  }

  async sendStream(type: number, requests: Items<Uint8Array>, options: CallOptions = {}): Promise<Uint8Array> {
    return (await this.#open(type, requests, false, options)).readOne();
  }

  #open(
    type: number, requests: Uint8Array | Items<Uint8Array>, streamsReplies: boolean, options: StreamOptions,
  ): Promise<StreamCall> {
    const traceparent = this.#traceparentOf(options);
    return this.onSession((session, timeout) =>
      (session as FrameSession).open(type, requests, streamsReplies, { ...options, traceparent, timeout }), options);
  }

  /** Asked for once, before the call waits: the program may be elsewhere then. */
  #traceparentOf({ traceparent }: CallOptions): string {
    return traceparent ?? this.#options.traceparent() ?? "";
  }

  #goesToNext({ code, failure }: FastPortError): boolean {
    return failure === "closed"
      || (failure === undefined && code === ErrorCode.ShuttingDown && this.#options.reconnect && !this.#connector.closing.aborted);
  }

  async #whenConnected(limit: TimeLimit, signal: AbortSignal | undefined): Promise<FrameSession> {
    signal?.throwIfAborted();
    const { slot } = this.#connector;
    return slot.current ?? slot.get(limit.left, signal);
  }
}
