/** Codes of error replies and of Goodbye. Applications may use others. */
export const ErrorCode = {
  None: 0,
  MalformedFrame: 1,
  FrameTooLarge: 2,
  UnknownType: 3,
  MalformedBody: 4,
  Unauthenticated: 5,
  Forbidden: 6,
  Timeout: 7,
  Overloaded: 8,
  Internal: 9,
  ShuttingDown: 10,
  DuplicateIdentity: 11,
  NotFound: 12,
  Unavailable: 13,
  ReplyTooLarge: 14,
} as const;

/**
 * Why no reply came.
 * - `connection-lost`: while the request was in flight; it may have run, or not. It is not sent again.
 * - `timed-out`: no reply came in time.
 * - `closed`: the client or the session is closed; nothing was sent.
 * - `not-connected`: `connect` was not called, or has failed; nothing was sent.
 * - `not-supported`: the call streams, and the peer does not support streams; nothing was sent.
 */
export type Failure = "connection-lost" | "timed-out" | "closed" | "not-connected" | "not-supported";

/** A message for programs in an error: a `google.protobuf.Any`. */
export interface ErrorDetail {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** A request was answered with an error, or was not answered. A handler throws it to answer with an error. */
export class FastPortError extends Error {
  override readonly name: string = "FastPortError";

  /**
   * @param code The code for programs, one of `ErrorCode` or the application's own.
   * @param message One sentence for people.
   * @param detail A message for programs. Defaults to none.
   * @param failure Why no reply came. Defaults to none: an error reply came.
   * @throws RangeError The code is no whole number from 0 to 4,294,967,295: it could not be sent.
   */
  constructor(
    readonly code: number,
    message: string,
    readonly detail?: ErrorDetail,
    readonly failure?: Failure,
    options?: ErrorOptions,
  ) {
    super(message, options);
    if (code !== code >>> 0) {
      throw new RangeError(`The code of an error is a whole number from 0 to 4294967295, not ${code}: '${message}'`);
    }
  }
}

/** An error of a request without a reply. */
export function failed(failure: Failure, message: string, cause?: unknown): FastPortError {
  const code = failure === "timed-out" ? ErrorCode.Timeout : ErrorCode.None;
  return new FastPortError(code, message, undefined, failure, cause === undefined ? undefined : { cause });
}
