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

/** How many bytes a frame has. */
export function sizeOf({ timing, trace, deadline, body = Nothing }: FrameParts): number {
  const blocks = (timing ? TimingSize : 0) + (trace ? TraceSize : 0) + (deadline === undefined ? 0 : DeadlineSize);
  return HeaderSize + blocks + body.length;
}

/**
 * Writes a frame.
 * @param bytes Have room for it from `at` on.
 * @param view Of the same bytes.
 * @returns Where it ends.
 */
export function writeFrame(
  bytes: Uint8Array, view: DataView, at: number,
  { type, flags = 0, correlation = 0, timing, trace, deadline, body = Nothing }: FrameParts,
): number {
  view.setUint16(at + 4, type, true);
  view.setUint8(at + 6, flags | (timing ? Flag.Timing : 0) | (trace ? Flag.Trace : 0) | (deadline === undefined ? 0 : Flag.Deadline));
  view.setUint8(at + 7, ProtocolVersion);
  view.setUint32(at + 8, correlation, true);
  let start = at + HeaderSize;
  if (timing) {
    view.setBigUint64(start, timing.received, true);
    view.setBigUint64(start + 8, timing.sent, true);
    start += TimingSize;
  }

  if (trace) {
    bytes.set(trace, start);
    start += TraceSize;
  }

  if (deadline !== undefined) {
    view.setUint32(start, deadline, true);
    start += DeadlineSize;
  }

  bytes.set(body, start);
  const end = start + body.length;
  view.setUint32(at, end - at - LengthSize, true);
  return end;
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
