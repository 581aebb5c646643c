import type { Items } from "../streams/pump.js";
import type { CallOptions } from "./request.js";

/** How long a call with a stream of replies may take, and what ends it. */
export interface StreamOptions extends CallOptions {
  /** Milliseconds for the whole call; 0 for no limit. Defaults to 0. */
  readonly wholeTimeout?: number | undefined;
}

/** What makes calls: a client, or one of its sessions. */
export interface Caller {
  /**
   * Sends a request and returns the body of its reply.
   * @throws FastPortError The server answered with an error, or no reply came.
   */
  request(type: number, body?: Uint8Array, options?: CallOptions): Promise<Uint8Array>;

  /** As `request`. The reply is read by `decode` before the next frame is read. */
  requestAs<T>(type: number, body: Uint8Array, decode: (body: Uint8Array) => T, options?: CallOptions): Promise<T>;

  /**
   * Sends a one-way message, when there is a connection and room in the send queue. Nothing tells whether it arrived.
   * @throws FastPortError Nothing was sent.
   */
  send(type: number, body?: Uint8Array, options?: CallOptions): Promise<void>;

  /**
   * Calls a method whose replies are a stream, with one request or a stream of them. The call begins with the first reply that is asked
   * for. Leaving the loop in any way ends it on both sides.
   * @throws FastPortError In the loop: the server answered with an error, or the session has ended.
   */
  stream(type: number, requests: Uint8Array | Items<Uint8Array>, options?: StreamOptions): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Calls a method with a stream of requests and one reply.
   * @throws FastPortError The server answered with an error, or no reply came.
   */
  sendStream(type: number, requests: Items<Uint8Array>, options?: CallOptions): Promise<Uint8Array>;
}
