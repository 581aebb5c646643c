export const Flag = Object.freeze({ Reply: 1, Error: 2, OneWay: 4, Timing: 8, Trace: 16, More: 32, Deadline: 128 });

const HeaderSize = 12;
const TimingSize = 16;
const TraceSize = 25;
const DeadlineSize = 4;
const Nothing = Buffer.alloc(0);

/**
 * One frame as bytes. `version`, `flags` and `length` are written as given, so that broken frames can be made too. `trace` is the trace
 * block in hexadecimal, `deadline` the deadline block in milliseconds.
 */
export function encodeFrame(
  { type, flags = 0, version = 1, correlation = 0, timing = null, trace = '', deadline = null, body = Nothing, length = null },
) {
  const traced = trace.length / 2;
  const block = timing === null ? traced + (deadline === null ? 0 : DeadlineSize) : TimingSize;
  const frame = Buffer.alloc(HeaderSize + block + body.length);
  frame.writeUInt32LE(length ?? frame.length - 4, 0);
  frame.writeUInt16LE(type, 4);
  frame.writeUInt8(flags, 6);
  frame.writeUInt8(version, 7);
  frame.writeUInt32LE(correlation, 8);
  if (timing !== null) {
    frame.writeBigUInt64LE(timing.received, HeaderSize);
    frame.writeBigUInt64LE(timing.sent, HeaderSize + 8);
  }

  frame.write(trace, HeaderSize, 'hex');
  if (deadline !== null) {
    frame.writeUInt32LE(deadline, HeaderSize + traced);
  }

  frame.set(body, HeaderSize + block);
  return frame;
}

/** A frame that breaks the format. `type` is the frame's, or 0 if its header was not read. */
export class FrameError extends RangeError {
  constructor(code, type, message) {
    super(message);
    this.code = code;
    this.type = type;
  }
}

const Malformed = 1;
const TooLarge = 2;

/** The bits of the extensions. */
export const Extension = Object.freeze({ Trace: 1, Streams: 2, Calls: 8 });

/** Takes bytes as they come and gives whole frames; throws a FrameError where they break the format. */
export class FrameDecoder {
  #rest = Nothing;

  /** `rules` is what is accepted; it may change from one frame to the next. Without rules everything is that has a form. */
  constructor(rules = { maxFrameBytes: 2 ** 28, extensions: 0xff }) {
    this.rules = rules;
  }

  /** Bytes of a frame that has begun and not ended. */
  get pending() {
    return this.#rest.length;
  }

  *push(chunk) {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4 && this.#rest.length >= 4 + this.#checkedLength()) {
      const size = 4 + this.#rest.readUInt32LE(0);
      const frame = parse(this.#rest.subarray(0, size), this.rules);
      this.#rest = this.#rest.subarray(size);
      yield frame;
    }
  }

  // A frame that is too large is refused before it is there.
  #checkedLength() {
    const length = this.#rest.readUInt32LE(0);
    if (length < HeaderSize - 4) {
      throw new FrameError(Malformed, 0, `A frame's length is ${length}.`);
    }

    const { maxFrameBytes, extensions, timing } = this.rules;
    const blocks = (timing ? TimingSize : 0) + (extensions & Extension.Trace ? TraceSize : 0)
      + (extensions & Extension.Calls ? DeadlineSize : 0);
    if (length > maxFrameBytes + blocks) {
      throw new FrameError(TooLarge, 0, `A frame's length is ${length}; the limit is ${maxFrameBytes}.`);
    }

    return length;
  }
}

function parse(bytes, { maxFrameBytes, extensions }) {
  const frame = {
    length: bytes.readUInt32LE(0),
    type: bytes.readUInt16LE(4),
    flags: bytes.readUInt8(6),
    version: bytes.readUInt8(7),
    correlation: bytes.readUInt32LE(8),
    timing: null,
    trace: null,
    deadline: null,
  };
  const { type, flags, correlation } = frame;
  const has = (flag) => (flags & flag) !== 0;
  if (
    frame.version !== 1
    || (flags & 0x40) !== 0
    || (has(Flag.More) && (has(Flag.OneWay | Flag.Error) || !(extensions & Extension.Streams)))
    || (has(Flag.Trace) && (has(Flag.Reply) || !(extensions & Extension.Trace)))
    || (has(Flag.Deadline) && (has(Flag.Reply | Flag.OneWay) || !(extensions & Extension.Calls)))
    || (has(Flag.Error) && !has(Flag.Reply))
    || (correlation === 0 && !has(Flag.Reply | Flag.OneWay))
  ) {
    throw new FrameError(Malformed, type, `A frame has version ${frame.version}, flags ${flags} and correlation ${correlation}.`);
  }

  const isTimed = has(Flag.Reply) && has(Flag.Timing);
  const blocks = (isTimed ? TimingSize : 0) + (has(Flag.Trace) ? TraceSize : 0) + (has(Flag.Deadline) ? DeadlineSize : 0);
  if (bytes.length < HeaderSize + blocks) {
    throw new FrameError(Malformed, type, `A frame's blocks are cut short: its length is ${frame.length}.`);
  }

  if (frame.length - blocks > maxFrameBytes) {
    throw new FrameError(TooLarge, type, `A frame's length is ${frame.length}; the limit is ${maxFrameBytes}.`);
  }

  let body = HeaderSize;
  if (isTimed) {
    frame.timing = { received: bytes.readBigUInt64LE(HeaderSize), sent: bytes.readBigUInt64LE(HeaderSize + 8) };
    body += TimingSize;
  }

  if (has(Flag.Trace)) {
    frame.trace = bytes.subarray(body, body + TraceSize).toString('hex');
    body += TraceSize;
  }

  if (has(Flag.Deadline)) {
    frame.deadline = bytes.readUInt32LE(body);
    body += DeadlineSize;
  }

  frame.body = bytes.subarray(body);
  return frame;
}
