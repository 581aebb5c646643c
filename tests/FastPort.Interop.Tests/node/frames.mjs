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

/** Takes bytes as they come and gives whole frames; throws where they break the format. */
export class FrameDecoder {
  #rest = Nothing;

  /** Bytes of a frame that has begun and not ended. */
  get pending() {
    return this.#rest.length;
  }

  push(chunk) {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames = [];
    let at = 0;
    while (this.#rest.length - at >= 4) {
      const length = this.#rest.readUInt32LE(at);
      if (length < HeaderSize - 4) {
        throw new RangeError(`A frame's length is ${length}.`);
      }

      if (this.#rest.length - at < 4 + length) {
        break;
      }

      frames.push(parse(this.#rest.subarray(at, at + 4 + length)));
      at += 4 + length;
    }

    this.#rest = this.#rest.subarray(at);
    return frames;
  }
}

function parse(bytes) {
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
  const isReply = (frame.flags & Flag.Reply) !== 0;
  if (
    frame.version !== 1
    || (frame.flags & 0x40) !== 0
    || ((frame.flags & Flag.More) !== 0 && (frame.flags & (Flag.OneWay | Flag.Error)) !== 0)
    || (isReply && (frame.flags & (Flag.Trace | Flag.Deadline)) !== 0)
    || ((frame.flags & Flag.OneWay) !== 0 && (frame.flags & Flag.Deadline) !== 0)
    || ((frame.flags & Flag.Error) !== 0 && !isReply)
  ) {
    throw new RangeError(`A frame has version ${frame.version} and flags ${frame.flags}.`);
  }

  let body = HeaderSize;
  if (isReply && (frame.flags & Flag.Timing) !== 0) {
    if (bytes.length < HeaderSize + TimingSize) {
      throw new RangeError(`A frame's timing block is cut short: its length is ${frame.length}.`);
    }

    frame.timing = { received: bytes.readBigUInt64LE(HeaderSize), sent: bytes.readBigUInt64LE(HeaderSize + 8) };
    body += TimingSize;
  }

  if ((frame.flags & Flag.Trace) !== 0) {
    frame.trace = bytes.subarray(body, body + TraceSize).toString('hex');
    body += TraceSize;
  }

  if ((frame.flags & Flag.Deadline) !== 0) {
    frame.deadline = bytes.readUInt32LE(body);
    body += DeadlineSize;
  }

  frame.body = bytes.subarray(body);
  return frame;
}
