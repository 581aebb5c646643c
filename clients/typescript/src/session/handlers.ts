import { ErrorCode, FastPortError } from "../errors.js";
import { notify } from "../notify.js";
import type { Session } from "./types.js";

/** Which of a method's sides is a stream of messages. */
export type MethodKind = "unary" | "server-stream" | "client-stream" | "duplex";

/** A message of the server, as a handler sees it. */
export interface CallContext {
  readonly session: Session;
  readonly type: number;
  /** Whether the sender expects no reply: a result or an error goes nowhere. */
  readonly isOneWay: boolean;
  /** Milliseconds that the caller waited for the reply when it sent the request; undefined if there is no limit. */
  readonly timeLeft: number | undefined;
  /** The caller's place in a trace, as a W3C `traceparent`; undefined if there is none. */
  readonly traceparent: string | undefined;
  /** Aborted when the caller has canceled, or the call has ended otherwise. */
  readonly signal: AbortSignal;
}

/**
 * Handles requests and one-way messages. What it returns is the reply; nothing is an empty one. To answer with an error, it throws a
 * `FastPortError`; another error is answered with `Internal`.
 */
export type Handler = (body: Uint8Array, context: CallContext) => Uint8Array | void | Promise<Uint8Array | void>;

/** Handles calls that stream. The requests are an iterable of one if the method has one request. */
export type StreamHandler<Reply> = (requests: AsyncIterable<Uint8Array>, context: CallContext) => Reply;

/** The handler of a message type that streams. */
export type StreamTypeHandler =
  | { readonly kind: "server-stream" | "duplex"; readonly run: StreamHandler<AsyncIterable<Uint8Array>> }
  | { readonly kind: "client-stream"; readonly run: StreamHandler<Promise<Uint8Array>> };

/** The handler of a message type. */
export type TypeHandler = StreamTypeHandler | { readonly kind: "unary"; readonly run: Handler };

/** The handlers of a client, by message type. */
export class Handlers {
  readonly #byType = new Map<number, TypeHandler>();
  readonly #onError: (error: unknown, type: number) => void;

  /** @param onError Told of exceptions of handlers that are not an answer. */
  constructor(onError: (error: unknown, type: number) => void) {
    this.#onError = onError;
  }

  /** @throws RangeError if the type has a handler. */
  add(type: number, handler: TypeHandler): void {
    if (this.#byType.has(type)) {
      throw new RangeError(`Message type 0x${type.toString(16)} has a handler.`);
    }

    this.#byType.set(type, handler);
  }

  get(type: number): TypeHandler | undefined {
    return this.#byType.get(type);
  }

  /** What a handler's exception is for the caller. An unexpected one is reported here, and is `Internal` there. */
  answerOf(error: unknown, type: number): FastPortError {
    if (error instanceof FastPortError && error.failure === undefined) {
      return error;
    }

    notify(() => this.#onError(error, type));
    return new FastPortError(ErrorCode.Internal, "The handler failed.");
  }
}
