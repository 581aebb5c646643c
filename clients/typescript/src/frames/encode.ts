import {
  DeadlineSize, Flag, HeaderSize, LengthSize, Nothing, ProtocolVersion, TimingSize, TraceSize, type Timing,
} from "./frame.js";

/** A frame to send. Its blocks set their flags by themselves. */
export interface FrameParts {
  readonly type: number;
  readonly flags?: number;
  readonly correlation?: number;
  readonly timing?: Timing | undefined;
  /** The trace block. */
  readonly trace?: Uint8Array | undefined;
  readonly deadline?: number | undefined;
  readonly body?: Uint8Array;
}

/** The bytes of a frame. */
export function encodeFrame({ type, flags = 0, correlation = 0, timing, trace, deadline, body = Nothing }: FrameParts): Uint8Array {
  const hasDeadline = deadline !== undefined;
  const start = HeaderSize + (timing ? TimingSize : 0) + (trace ? TraceSize : 0) + (hasDeadline ? DeadlineSize : 0);
  const bytes = new Uint8Array(start + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - LengthSize, true);
  view.setUint16(4, type, true);
  view.setUint8(6, flags | (timing ? Flag.Timing : 0) | (trace ? Flag.Trace : 0) | (hasDeadline ? Flag.Deadline : 0));
  view.setUint8(7, ProtocolVersion);
  view.setUint32(8, correlation, true);
  if (timing) {
    view.setBigUint64(HeaderSize, timing.received, true);
    view.setBigUint64(HeaderSize + 8, timing.sent, true);
  }

  if (trace) {
    bytes.set(trace, HeaderSize);
  }

  if (hasDeadline) {
    view.setUint32(start - DeadlineSize, deadline, true);
  }

  bytes.set(body, start);
  return bytes;
}

/** The parts one after the other. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }

  return bytes;
}
