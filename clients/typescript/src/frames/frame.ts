/** Bits of a frame's flags. */
export const Flag = { Reply: 0x01, Error: 0x02, OneWay: 0x04, Timing: 0x08, Trace: 0x10, More: 0x20, Deadline: 0x80 } as const;

/** Bits of the extensions in Hello and Welcome that this client offers. */
export const Extension = { Trace: 0x01, Streams: 0x02, Calls: 0x08 } as const;

export const HeaderSize = 12;
export const LengthSize = 4;
export const TimingSize = 16;
export const TraceSize = 25;
export const DeadlineSize = 4;
export const ProtocolVersion = 1;
export const Nothing = new Uint8Array(0);

/** When the answering side had the last byte of the request in memory, and when it passed on the reply: nanoseconds of its own clock. */
export interface Timing {
  readonly received: bigint;
  readonly sent: bigint;
}

/** A frame as it was received. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly correlation: number;
  /** Only on a reply with the flag. */
  readonly timing: Timing | undefined;
  /** The sender's place in a trace, as a W3C `traceparent`; only on a request or one-way frame with the flag. */
  readonly traceparent: string | undefined;
  /** Milliseconds that the requester still waits; only on a request with the flag. */
  readonly deadline: number | undefined;
  /** A view of the received bytes. */
  readonly body: Uint8Array;
}
