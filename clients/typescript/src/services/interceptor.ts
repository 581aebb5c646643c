import type { StreamOptions } from "../session/caller.js";

/** A call of a service client, for interceptors. */
export interface ClientCall<Request> {
  /** Package, service and method, such as `walking.Move/Walk`. */
  readonly method: string;
  readonly type: number;
  /** The request, or the stream of requests, which can be sent once. */
  readonly request: Request;
  readonly options: StreamOptions;
}

/**
 * Code around the calls of a service client, such as logging, metrics or retries. `next` makes the call, through the interceptors behind
 * this one. It may be called with a changed copy of the call, several times or not at all. Several calls may run at the same time.
 */
export interface ClientInterceptor {
  /** Runs around a call with one reply. Defaults to the call alone. */
  call?<Request, Reply>(call: ClientCall<Request>, next: (call: ClientCall<Request>) => Promise<Reply>): Promise<Reply>;

  /** Runs around a call whose replies are a stream. It begins when the first reply is asked for. Defaults to the call alone. */
  stream?<Request, Reply>(
    call: ClientCall<Request>, next: (call: ClientCall<Request>) => AsyncIterable<Reply>,
  ): AsyncIterable<Reply>;
}
