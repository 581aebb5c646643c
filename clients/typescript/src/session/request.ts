import { ErrorCode, FastPortError, failed } from "../errors.js";
import { Flag, type Frame } from "../frames/frame.js";
import type { Latencies } from "../latency/latencies.js";
import { whenAborted } from "./aborts.js";
import type { Calls } from "./calls.js";
import { sendCancel, type Link } from "./link.js";
import { deadlineOf, startTimer } from "./time-limit.js";
import { errorOf } from "./replies.js";

/** How long a call may take, and what ends it. */
export interface CallOptions {
  /**
   * Milliseconds for the whole call, with the wait for a connection; of a call with a stream of replies the time to the first one. 0 for no
   * limit. Defaults to the client's `requestTimeout`.
   */
  readonly timeout?: number | undefined;
  /** Ends the call with the signal's reason; the server is told. */
  readonly signal?: AbortSignal | undefined;
  /** The call's place in a trace, as a W3C `traceparent`. Defaults to what the client's `traceparent` returns. */
  readonly traceparent?: string | undefined;
}

/** A request to send. */
export interface RequestParts<T> {
  readonly type: number;
  readonly body: Uint8Array;
  /** Reads the reply, before the next frame is read. */
  readonly decode: (body: Uint8Array) => T;
  /** Milliseconds; 0 for no limit. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  /** The trace block. */
  readonly trace?: Uint8Array | undefined;
  /** Where to count its latency; undefined for a request that is not measured. */
  readonly latencies?: Latencies | undefined;
  /** Whether to ask for a timing block. */
  readonly timing: boolean;
}

/** Sends a request at once. */
export function request<T>(calls: Calls, link: Link, parts: RequestParts<T>): Promise<T> {
  const { type, body, timeout, signal, trace } = parts;
  return new Promise<T>((resolve, reject) => {
    const sentAt = performance.now();
    const end = () => {
      calls.remove(correlation);
      clearTimeout(timer);
      stopWatching();
    };
    const giveUp = (reason: unknown) => {
      end();
      sendCancel(link, correlation);
      reject(reason);
    };
    const onAbort = () => giveUp(signal!.reason);
    const onReply = (frame: Frame) => {
      if (frame.flags & Flag.More) {
        giveUp(new FastPortError(ErrorCode.MalformedBody, "An item of a stream came for a call with one reply."));
        return;
      }

      end();
      parts.latencies?.record((performance.now() - sentAt) * 1e6, frame.timing);
      if (frame.flags & Flag.Error) {
        reject(errorOf(frame.body));
        return;
      }

      try {
        resolve(parts.decode(frame.body));
      } catch (e) {
        reject(new FastPortError(ErrorCode.MalformedBody, "The reply is not a message of its type.", undefined, undefined, { cause: e }));
      }
    };
    const onLost = (error: Error) => {
      end();
      reject(error);
    };

    const correlation = calls.add({ type, onReply, onLost });
    const timer = startTimer(timeout, () => giveUp(failed("timed-out", `No reply came in ${timeout} ms.`)));
    const stopWatching = whenAborted(signal, onAbort);
    link.sendFrame({ type, correlation, flags: parts.timing ? Flag.Timing : 0, trace, deadline: deadlineOf(timeout, link), body });
  });
}
