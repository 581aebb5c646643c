import type { Session, SessionEnd } from "../session/types.js";
import type { StreamWindow } from "../streams/inflow.js";
import type { Transport } from "../transports/transport.js";

/** Options of a client. Times are in milliseconds. */
export interface ClientOptions {
  /** The way to the server: `webSocket(url)`, or `socket(endpoint)` of `fastport/node`. */
  readonly transport: Transport;
  /** Routing id to request. Defaults to none. */
  readonly routingId?: string | undefined;
  /**
   * Token for the server's authenticator, or a function that is called for it at each attempt to connect. While the function returns a
   * token that the server has refused, the client does not connect and calls fail at once; a client with a fixed token stops. Defaults to
   * none.
   */
  readonly token?: string | ((signal: AbortSignal) => string | Promise<string>) | undefined;
  /** Whether a token may cross the network unencrypted. Defaults to false: such options are refused. */
  readonly allowPlaintext?: boolean | undefined;
  /** The client's name in the server's logs. Defaults to none. */
  readonly clientName?: string | undefined;
  /** Time for a request, with the wait for a connection; 0 for no limit. Defaults to 30 s. */
  readonly requestTimeout?: number | undefined;
  /** Time for an attempt to connect, with Hello. Defaults to 5 s. */
  readonly connectTimeout?: number | undefined;
  /** Time that `close` waits for calls in flight, up to a day. Defaults to 5 s. */
  readonly closeTimeout?: number | undefined;
  /** Whether `connect` tries until there is a server; calls wait meanwhile. Defaults to false: one attempt. */
  readonly retryConnect?: boolean | undefined;
  /** Whether the client reconnects after it has lost its connection. Defaults to true. */
  readonly reconnect?: boolean | undefined;
  /** Delay before the second attempt to reconnect, 1 ms to a day; the first has none. Doubles, with jitter. Defaults to 100 ms. */
  readonly reconnectDelay?: number | undefined;
  /** Maximum delay between attempts, 1 ms to a day. Defaults to 1 s. */
  readonly maxReconnectDelay?: number | undefined;
  /** Silence of the server after which it gets a Ping, and after the same time again is given up; 0 for never. Defaults to 15 s. */
  readonly heartbeatInterval?: number | undefined;
  /** Whether requests ask for timing blocks, which separate the server's time from the network's in `latencies`. Defaults to false. */
  readonly timing?: boolean | undefined;
  /**
   * The program's place in a trace, as a W3C `traceparent`, which goes with each request and one-way message; undefined for none. Called
   * when a call is made; of a call with a stream of replies when it begins. Defaults to none.
   */
  readonly traceparent?: (() => string | undefined) | undefined;
  /** Limit of a frame that the client accepts, in bytes, 1,024 or more. Defaults to 1 MiB. */
  readonly maxFrameBytes?: number | undefined;
  /** Bytes that may wait to be sent before calls wait for room. Defaults to 1 MiB. */
  readonly sendQueueBytes?: number | undefined;
  /** How much of a stream may be under way or wait for its reader. Defaults to 256 messages and 128 KiB. */
  readonly streamWindow?: StreamWindow | undefined;
  /** Requests of the server that may run at a time; then the client does not read. Defaults to 1,024. */
  readonly maxRequestsInFlight?: number | undefined;
  /** Streams that the server may have open; one more is refused. Defaults to 128. */
  readonly maxStreams?: number | undefined;
  /** A session has begun. */
  readonly onConnected?: ((session: Session) => void) | undefined;
  /** A session has ended. */
  readonly onDisconnected?: ((session: Session, end: SessionEnd) => void) | undefined;
  /** An attempt to connect has failed; the client tries again. */
  readonly onConnectFailed?: ((error: unknown) => void) | undefined;
  /** A handler has thrown something other than a `FastPortError`. Defaults to `console.error`. */
  readonly onHandlerError?: ((error: unknown, type: number) => void) | undefined;
}

/** Options with their defaults. */
export type CompleteOptions = ReturnType<typeof complete>;

const Day = 86_400_000;

/** The least and the greatest value of each number. Delays have an end: timers fire at once after a longer time than they can measure. */
const Ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  requestTimeout: [0, Infinity],
  connectTimeout: [0, Infinity],
  closeTimeout: [0, Day],
  reconnectDelay: [1, Day],
  maxReconnectDelay: [1, Day],
  heartbeatInterval: [0, Infinity],
  maxFrameBytes: [1024, Infinity],
  sendQueueBytes: [1, Infinity],
  maxRequestsInFlight: [1, Infinity],
  maxStreams: [0, Infinity],
  "streamWindow.messages": [1, Infinity],
  "streamWindow.bytes": [1, Infinity],
};

/** @throws RangeError A number is out of range, or a token would cross the network unencrypted. */
export function complete(options: ClientOptions) {
  const { token, transport, allowPlaintext, streamWindow } = options;
  checkNumbers({ ...options, "streamWindow.messages": streamWindow?.messages, "streamWindow.bytes": streamWindow?.bytes });
  if (token && transport.isPlaintext && !allowPlaintext) {
    throw new RangeError(
      `The token would cross the network to ${transport.endpoint} unencrypted; use TLS, or set allowPlaintext to send it anyway.`);
  }

  return {
    transport,
    token: token ?? "",
    routingId: options.routingId ?? "",
    clientName: options.clientName ?? "",
    requestTimeout: options.requestTimeout ?? 30_000,
    connectTimeout: options.connectTimeout ?? 5000,
    closeTimeout: options.closeTimeout ?? 5000,
    retryConnect: options.retryConnect ?? false,
    reconnect: options.reconnect ?? true,
    reconnectDelay: options.reconnectDelay ?? 100,
    maxReconnectDelay: options.maxReconnectDelay ?? 1000,
    heartbeatInterval: options.heartbeatInterval ?? 15_000,
    timing: options.timing ?? false,
    traceparent: options.traceparent ?? (() => undefined),
    maxFrameBytes: options.maxFrameBytes ?? 2 ** 20,
    sendQueueBytes: options.sendQueueBytes ?? 2 ** 20,
    window: streamWindow ?? { messages: 256, bytes: 128 * 1024 },
    maxRequestsInFlight: options.maxRequestsInFlight ?? 1024,
    maxStreams: options.maxStreams ?? 128,
    onConnected: options.onConnected ?? (() => {}),
    onDisconnected: options.onDisconnected ?? (() => {}),
    onConnectFailed: options.onConnectFailed ?? (() => {}),
    onHandlerError: options.onHandlerError ?? ((error: unknown, type: number) => {
      console.error(`The handler of 0x${type.toString(16)} has failed:`, error);
    }),
  };
}

function checkNumbers(options: Readonly<Record<string, unknown>>): void {
  for (const [name, [least, most]] of Object.entries(Ranges)) {
    const value = options[name];
    if (value !== undefined && value !== null && !(typeof value === "number" && value >= least && value <= most)) {
      const range = most === Infinity ? `of ${least} or more` : `from ${least} to ${most}`;
      throw new RangeError(`${name} is '${value}' (${typeof value}); it must be a number ${range}.`);
    }
  }
}
