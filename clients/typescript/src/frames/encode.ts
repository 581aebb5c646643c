import { DeadlineSize, Flag, HeaderSize, LengthSize, Nothing, ProtocolVersion, TimingSize, type Timing } from "./frame.js";

/** A frame to send. A timing block and a deadline block set their flags by themselves. */
export interface FrameParts {
  readonly type: number;
  readonly flags?: number;
  readonly correlation?: number;
  readonly timing?: Timing | undefined;
  readonly deadline?: number | undefined;
  readonly body?: Uint8Array;
}

/** The bytes of a frame. */
export function encodeFrame({ type, flags = 0, correlation = 0, timing, deadline, body = Nothing }: FrameParts): Uint8Array {
  const start = HeaderSize + (timing ? TimingSize : 0) + (deadline === undefined ? 0 : DeadlineSize);
  const bytes = new Uint8Array(start + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - LengthSize, true);
  view.setUint16(4, type, true);
  view.setUint8(6, flags | (timing ? Flag.Timing : 0) | (deadline === undefined ? 0 : Flag.Deadline));
  view.setUint8(7, ProtocolVersion);
  view.setUint32(8, correlation, true);
  if (timing) {
    view.setBigUint64(HeaderSize, timing.received, true);
    view.setBigUint64(HeaderSize + 8, timing.sent, true);
  }

  if (deadline !== undefined) {
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
