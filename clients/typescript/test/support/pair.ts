import type { Transport } from "fastport";
import { Handlers } from "../../dist/session/handlers.js";
import { FrameSession } from "../../dist/session/session.js";
import type { SessionSettings } from "../../dist/session/types.js";
import { Latencies } from "../../dist/latency/latencies.js";
import { Hello, MessageType, Welcome } from "../../dist/messages/control.js";
import type { Connection, ConnectionEvents } from "../../dist/transports/transport.js";

/** One end of a link within the process. Bytes arrive in a later turn, cut into pieces of at most `piece` bytes. */
class LinkEnd implements Connection {
  readonly bufferedBytes = 0;
  other!: LinkEnd;
  isPaused = false;
  #waiting: (() => void)[] = [];
  #hasEnded = false;
  #isClosed = false;

  constructor(readonly events: ConnectionEvents, readonly piece: number) {}

  send(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += this.piece) {
      const part = bytes.slice(at, at + this.piece);
      this.other.#receive(() => this.other.events.onData(part));
    }
  }

  async drained(): Promise<void> {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#waiting.splice(0).forEach((deliver) => this.#receive(deliver));
  }

  end(): void {
    this.#hasEnded = true;
    this.other.#receive(() => {
      this.other.events.onEnd();
      if (this.other.#hasEnded) {
        this.#close();
        this.other.#close();
      }
    });
  }

  abort(): void {
    this.#close();
    setImmediate(() => this.other.#close());
  }

  #receive(deliver: () => void): void {
    setImmediate(() => {
      if (this.isPaused) {
        this.#waiting.push(deliver);
      } else if (!this.#isClosed) {
        deliver();
      }
    });
  }

  #close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.events.onClosed();
    }
  }
}

export const defaults = {
  maxFrameBytes: 2 ** 20,
  sendQueueBytes: 2 ** 20,
  requestTimeout: 10_000,
  heartbeatInterval: 15_000,
  timing: false,
  traceparent: () => undefined,
  window: { messages: 256, bytes: 128 * 1024 },
  maxStreams: 128,
  maxRequestsInFlight: 1024,
};

/** A server of one session at a time, within the process. It answers Hello; tests add handlers. */
export class LocalServer implements Transport {
  readonly endpoint = "local";
  readonly isPlaintext = false;
  readonly handlers = new Handlers(() => {});
  readonly sessions: FrameSession[] = [];
  readonly settings: SessionSettings;
  readonly #piece: number;

  constructor(
    options: Partial<typeof defaults> & { heartbeatMs?: number; extensions?: number; piece?: number; welcome?: boolean } = {},
  ) {
    this.settings = { ...defaults, ...options, handlers: this.handlers, latencies: new Latencies() };
    this.#piece = options.piece ?? 65_536;
    const { heartbeatMs = 15_000, extensions = 0x0a, welcome = true } = options;
    if (welcome) {
      this.handlers.add(MessageType.Hello, {
        kind: "unary",
        run: (body, { session }) => {
          (session as FrameSession).agree(Hello.decode(body).extensions & extensions);
          const { maxFrameBytes } = this.settings;
          return Welcome.encode({ sessionId: BigInt(this.sessions.length), serverName: "local", maxFrameBytes, heartbeatMs, extensions });
        },
      });
    }
  }

  /** The session of the last client. */
  get last(): FrameSession {
    return this.sessions.at(-1)!;
  }

  async connect(events: ConnectionEvents): Promise<Connection> {
    const session = new FrameSession(this.settings);
    const server = new LinkEnd(session, this.#piece);
    const client = new LinkEnd(events, this.#piece);
    server.other = client;
    client.other = server;
    session.start(server);
    this.sessions.push(session);
    return client;
  }
}
