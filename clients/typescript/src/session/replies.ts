import { ErrorCode, FastPortError, type ErrorDetail } from "../errors.js";
import type { FrameError } from "../frames/decoder.js";
import { Extension, Flag, type Frame, type Timing } from "../frames/frame.js";
import { Failed } from "../messages/control.js";
import type { Link } from "./link.js";

/** The error of an error reply. */
export function errorOf(body: Uint8Array): FastPortError {
  try {
    const { code, message, detail } = Failed.decode(body);
    return new FastPortError(code, message, detail);
  } catch (e) {
    return new FastPortError(ErrorCode.MalformedBody, "The body of an error reply is malformed.", undefined, undefined, { cause: e });
  }
}

/** Answers a request with an error. The detail is left out if the peer does not know it, and what would make the frame too large. */
export function sendError(link: Link, request: Pick<Frame, "type" | "correlation">, error: FastPortError, timing?: Timing): void {
  const { code, message } = error;
  const encode = (detail?: ErrorDetail) => Failed.encode({ code, message, detail: detail && { ...detail } });
  const full = encode(link.extensions & Extension.Calls ? error.detail : undefined);
  const body = [full, encode()].find(({ length }) => link.fits(length)) ?? Failed.encode({ code });
  link.sendFrame({ type: request.type, correlation: request.correlation, flags: Flag.Reply | Flag.Error, timing, body });
}

/** Tells the peer that it has broken the format. */
export function sendConnectionError(link: Link, { type, code, message }: FrameError): void {
  link.sendFrame({ type, flags: Flag.Reply | Flag.Error, body: Failed.encode({ code, message }) });
}

/** Answers a request, with ReplyTooLarge if the reply does not fit into a frame. */
export function sendReply(link: Link, request: Pick<Frame, "type" | "correlation">, body: Uint8Array, timing?: Timing): void {
  if (link.fits(body.length)) {
    link.sendFrame({ type: request.type, correlation: request.correlation, flags: Flag.Reply, timing, body });
  } else {
    sendError(link, request, new FastPortError(ErrorCode.ReplyTooLarge, `The reply has ${body.length} bytes.`), timing);
  }
}

/** The answering side's clock. */
export function nanoseconds(): bigint {
  return BigInt(Math.round(performance.now() * 1e6));
}

/** Measures the time of an answer, if the request asks for it. */
export function timingOf(request: Frame): () => Timing | undefined {
  if (!(request.flags & Flag.Timing)) {
    return () => undefined;
  }

  const received = nanoseconds();
  return () => ({ received, sent: nanoseconds() });
}
