import { isLoopback } from "./loopback.js";
import type { Connection, ConnectionEvents, Transport } from "./transport.js";

const SubProtocol = "fastport.v1";
const PollMs = 5;
const LowWater = 64 * 1024;

/** What is used of a WebSocket: a browser's, or that of the package `ws`. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  // Only of `ws`.
  pause?(): void;
  resume?(): void;
  terminate?(): void;
}

/** Options of a WebSocket connection. */
export interface WebSocketOptions {
  /** Defaults to the global `WebSocket`. In Node.js 20, pass that of the package `ws`. */
  readonly WebSocket?: (new (url: string, protocols: string) => WebSocketLike) | undefined;
}

/**
 * Connects with a WebSocket.
 * @param url Such as `wss://play.example.org/fastport`.
 * @throws RangeError The URL is none, or has another scheme.
 */
export function webSocket(url: string | URL, options: WebSocketOptions = {}): Transport {
  // Constructors may take http:// for ws://: a token would go with it.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "ws:" && parsed?.protocol !== "wss:") {
    throw new RangeError(`'${url}' is not a URL with ws:// or wss://, such as wss://play.example.org/fastport.`);
  }

  const { protocol, hostname, href } = parsed;
  const Constructor = options.WebSocket ?? globalThis.WebSocket;
  if (!Constructor) {
    throw new TypeError("There is no global WebSocket; pass a constructor, such as that of the package ws.");
  }

  return {
    endpoint: href,
    isPlaintext: protocol === "ws:" && !isLoopback(hostname),
    connect: (events, signal) => new Promise((resolve, reject) => {
      const socket: WebSocketLike = new Constructor(href, SubProtocol);
      const connection = new WebSocketConnection(socket, events);
      const fail = (reason: unknown) => {
        connection.abort();
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      socket.onopen = () => {
        signal.removeEventListener("abort", onAbort);
        if (socket.protocol === SubProtocol) {
          resolve(connection);
        } else {
          fail(new Error(`${href} does not speak ${SubProtocol}.`));
        }
      };
      // A failed attempt is reported by onclose, too; then the promise is settled.
      connection.closed.then((error) => {
        signal.removeEventListener("abort", onAbort);
        reject(new Error(`Cannot connect to ${href}: ${error?.message ?? "the WebSocket was closed."}`));
      });
    }),
  };
}

class WebSocketConnection implements Connection {
  readonly closed: Promise<Error | undefined>;
  readonly #socket: WebSocketLike;
  readonly #events: ConnectionEvents;
  #waiting: Uint8Array[] | undefined;
  #isClosed = false;
  #resolveClosed!: (error: Error | undefined) => void;

  constructor(socket: WebSocketLike, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }: { data: unknown }) => this.#receive(data);
    socket.onclose = ({ code, reason }: { code: number; reason: string }) =>
      this.#close(code === 1000 ? undefined : new Error(`The WebSocket was closed with code ${code}${reason && `: ${reason}`}.`));
    socket.onerror = () => {}; // onclose follows.
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes as Uint8Array<ArrayBuffer>);
  }

  /** A WebSocket has no event for this. Waits at least once: a limit may be below LowWater. */
  async drained(): Promise<void> {
    do {
      await new Promise((resolve) => setTimeout(resolve, PollMs));
    } while (!this.#isClosed && this.#socket.bufferedAmount > LowWater);
  }

  /** A browser goes on to receive: what arrives waits here. */
  pause(): void {
    this.#waiting ??= [];
    this.#socket.pause?.();
  }

  resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#socket.resume?.();
    waiting.forEach((bytes) => this.#deliver(bytes));
  }

  end(): void {
    this.#socket.close(1000);
  }

  abort(): void {
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    if (this.#socket.terminate) {
      this.#socket.terminate();
    } else {
      this.#socket.close();
    }

    this.#close();
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.#deliver(new Uint8Array(data));
    } else {
      this.#close(new Error("A text message came; FastPort's are binary."));
      this.abort();
    }
  }

  /** Delivering may pause again. */
  #deliver(bytes: Uint8Array): void {
    if (this.#waiting) {
      this.#waiting.push(bytes);
    } else if (!this.#isClosed) {
      this.#events.onData(bytes);
    }
  }

  #close(error?: Error): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#resolveClosed(error);
      this.#events.onClosed(error);
    }
  }
}
