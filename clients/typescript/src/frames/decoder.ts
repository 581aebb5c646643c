import { ErrorCode } from "../errors.js";
import { concat } from "./encode.js";
import { DeadlineSize, Extension, Flag, HeaderSize, LengthSize, ProtocolVersion, TimingSize, TraceSize, type Frame } from "./frame.js";
import { traceParentOf } from "./trace.js";

/** What a side accepts. It may change between two frames: a Welcome changes it. */
export interface FrameRules {
  /** Limit of a frame's length without its blocks. */
  maxFrameBytes: number;
  /** Whether requests ask for timing blocks. */
  timing: boolean;
  /** The extensions in force. */
  extensions: number;
}

/** The peer has broken the format: the connection cannot go on. */
export class FrameError extends Error {
  /**
   * @param code MalformedFrame or FrameTooLarge.
   * @param type The frame's type; 0 if its header was not read.
   */
  constructor(readonly code: number, readonly type: number, message: string) {
    super(message);
  }
}

const KnownFlags = 0xbf;
const MinLength = HeaderSize - LengthSize;

/** Takes bytes as they come and gives whole frames. */
export class FrameDecoder {
  readonly #rules: FrameRules;
  readonly #onFrame: (frame: Frame) => void;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #needed = LengthSize;

  constructor(rules: FrameRules, onFrame: (frame: Frame) => void) {
    this.#rules = rules;
    this.#onFrame = onFrame;
  }

  /** Whether a frame has begun and not ended. */
  get isMidFrame(): boolean {
    return this.#size > 0;
  }

  /**
   * Takes the next bytes. They must not change afterwards: bodies are views of them.
   * @throws FrameError
   */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) {
      return;
    }

    const bytes = this.#chunks.length === 1 ? chunk : concat(this.#chunks);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    while ((this.#needed = this.#check(view, at)) <= bytes.length - at) {
      const end = at + this.#needed;
      this.#onFrame(read(bytes, view, at, end));
      at = end;
    }

    this.#size = bytes.length - at;
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(at)];
  }

  /** The bytes that are needed to go on. A frame that is refused is refused before it is there. */
  #check(view: DataView, at: number): number {
    const there = view.byteLength - at;
    if (there < LengthSize) {
      return LengthSize;
    }

    const { maxFrameBytes, timing, extensions } = this.#rules;
    const length = view.getUint32(at, true);
    if (length < MinLength) {
      throw new FrameError(ErrorCode.MalformedFrame, 0, `A frame's length is ${length}; it is at least ${MinLength}.`);
    }

    // Only replies have timing blocks, and only others have the other blocks.
    const others = (extensions & Extension.Trace ? TraceSize : 0) + (extensions & Extension.Calls ? DeadlineSize : 0);
    if (length > maxFrameBytes + Math.max(timing ? TimingSize : 0, others)) {
      throw new FrameError(ErrorCode.FrameTooLarge, 0, `A frame's length is ${length}; the limit is ${maxFrameBytes}.`);
    }

    if (there < HeaderSize) {
      return HeaderSize;
    }

    const type = view.getUint16(at + 4, true);
    const flags = view.getUint8(at + 6);
    const problem = problemOf(flags, view.getUint8(at + 7), view.getUint32(at + 8, true), extensions)
      ?? (length < MinLength + blocksOf(flags) ? `its length is ${length}, too short for its blocks` : undefined);
    if (problem) {
      throw new FrameError(ErrorCode.MalformedFrame, type, `A frame is malformed: ${problem}.`);
    }

    if (length - blocksOf(flags) > maxFrameBytes) {
      throw new FrameError(ErrorCode.FrameTooLarge, type, `A frame's length is ${length}; the limit is ${maxFrameBytes}.`);
    }

    return LengthSize + length;
  }
}

function problemOf(flags: number, version: number, correlation: number, extensions: number): string | undefined {
  const isReply = (flags & Flag.Reply) !== 0;
  const isOneWay = (flags & Flag.OneWay) !== 0;
  if (version !== ProtocolVersion) {
    return `its version is ${version}`;
  }

  if (flags & ~KnownFlags) {
    return `its flags 0x${flags.toString(16)} are not known here`;
  }

  if (flags & Flag.Error && !isReply) {
    return "an error is not a reply";
  }

  if (flags & Flag.More && (flags & (Flag.OneWay | Flag.Error) || !(extensions & Extension.Streams))) {
    return "More is not allowed there";
  }

  if (flags & Flag.Trace && (isReply || !(extensions & Extension.Trace))) {
    return "a trace is not allowed there";
  }

  if (flags & Flag.Deadline && (isReply || isOneWay || !(extensions & Extension.Calls))) {
    return "a deadline is not allowed there";
  }

  return correlation === 0 && !isReply && !isOneWay ? "a request has the correlation 0" : undefined;
}

function blocksOf(flags: number): number {
  const hasTiming = (flags & (Flag.Reply | Flag.Timing)) === (Flag.Reply | Flag.Timing);
  return (hasTiming ? TimingSize : 0) + (flags & Flag.Trace ? TraceSize : 0) + (flags & Flag.Deadline ? DeadlineSize : 0);
}

function read(bytes: Uint8Array, view: DataView, at: number, end: number): Frame {
  const flags = view.getUint8(at + 6);
  const start = at + HeaderSize;
  const bodyAt = start + blocksOf(flags);
  return {
    type: view.getUint16(at + 4, true),
    flags,
    correlation: view.getUint32(at + 8, true),
    timing: flags & Flag.Reply && flags & Flag.Timing
      ? { received: view.getBigUint64(start, true), sent: view.getBigUint64(start + 8, true) }
      : undefined,
    traceparent: flags & Flag.Trace ? traceParentOf(bytes.subarray(start, start + TraceSize)) : undefined,
    deadline: flags & Flag.Deadline ? view.getUint32(bodyAt - DeadlineSize, true) : undefined,
    body: bytes.subarray(bodyAt, end),
  };
}
