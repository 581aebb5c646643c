import * as net from "node:net";
import * as tls from "node:tls";
import { Nothing } from "../frames/frame.js";
import type { Connection, ConnectionEvents, Transport } from "../transports/transport.js";
import { isPlaintext, parseEndpoint, type Endpoint } from "./endpoint.js";

/** Options of a connection over a socket. */
export interface SocketOptions {
  /** How to check the server of a `tls://` endpoint (`ca`), and the certificate to present (`cert`, `key`). */
  readonly tls?: tls.ConnectionOptions | undefined;
}

/**
 * Connects over TCP, TLS or a Unix socket.
 * @param endpoint `tcp://host:port`, `tls://host:port` or `unix:///path`. The port defaults to 6628.
 */
export function socket(endpoint: string, options: SocketOptions = {}): Transport {
  const parsed = parseEndpoint(endpoint);
  if (options.tls && parsed.scheme !== "tls") {
    throw new RangeError(`There are TLS options, but ${endpoint} is not a tls:// endpoint.`);
  }

  return {
    endpoint,
    isPlaintext: isPlaintext(parsed),
    connect: (events, signal) => new Promise((resolve, reject) => {
      const opening = open(parsed, options.tls);
      const onAbort = () => opening.destroy(signal.reason as Error);
      const fail = (error: Error) => {
        if (!signal.aborted) {
          // The error of a host with several addresses has no message of its own.
          const { message } = error instanceof AggregateError && error.message === "" ? error.errors[0] as Error : error;
          error.message = `Cannot connect to ${endpoint}: ${message}`;
        }

        reject(error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      opening.once("error", fail);
      opening.once(parsed.scheme === "tls" ? "secureConnect" : "connect", () => {
        signal.removeEventListener("abort", onAbort);
        opening.off("error", fail);
        resolve(new SocketConnection(opening, events));
      });
    }),
  };
}

function open(endpoint: Endpoint, options: tls.ConnectionOptions | undefined): net.Socket {
  if (endpoint.scheme === "unix") {
    return net.connect({ path: endpoint.path, allowHalfOpen: true });
  }

  const { host, port } = endpoint;
  const common = { host, port, noDelay: true, allowHalfOpen: true };
  return endpoint.scheme === "tcp"
    ? net.connect(common)
    : tls.connect({ ...common, ALPNProtocols: ["fastport/1"], ...(net.isIP(host) === 0 ? { servername: host } : {}), ...options });
}

class SocketConnection implements Connection {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket, events: ConnectionEvents) {
    this.#socket = socket;
    let failure: Error | undefined;
    socket.on("data", ({ buffer, byteOffset, length }) => events.onData(new Uint8Array(buffer, byteOffset, length)));
    socket.on("end", () => events.onEnd());
    socket.on("error", (error) => (failure = error));
    socket.on("close", () => events.onClosed(failure));
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** A write ends after those before it, or when the socket is closed. The event drain comes only for more than a high-water mark. */
  drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.write(Nothing, () => resolve()));
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  abort(): void {
    this.#socket.destroy();
  }
}
