import { ErrorCode, FastPortError, failed } from "../errors.js";
import { notify } from "../notify.js";
import type { FrameSession } from "../session/session.js";
import { within } from "../session/time-limit.js";
import type { SessionSettings } from "../session/types.js";
import { Backoff, delay } from "./backoff.js";
import { openSession } from "./open-session.js";
import type { CompleteOptions } from "./options.js";
import { SessionSlot } from "./session-slot.js";

/** What a connector tells its client. */
export interface ConnectorEvents {
  /** A session has begun; it is used when this has resolved. */
  opened(session: FrameSession): Promise<void>;
  /** There are no more sessions; the error is undefined if the program has closed the client. */
  ended(error: Error | undefined): void;
}

/** Connects a client, and again when it has lost its connection. */
export class Connector {
  readonly slot = new SessionSlot();
  readonly #options: CompleteOptions;
  readonly #settings: SessionSettings;
  readonly #events: ConnectorEvents;
  readonly #closing = new AbortController();
  readonly #open = new Set<FrameSession>();
  #connected: Promise<void> | undefined;
  #ended: FastPortError | undefined;

  constructor(options: CompleteOptions, settings: SessionSettings, events: ConnectorEvents) {
    this.#options = options;
    this.#settings = settings;
    this.#events = events;
  }

  /** Aborted when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Connects. The same attempt serves all callers; after a failed one, the next call makes another. */
  async connect(signal: AbortSignal | undefined): Promise<void> {
    if (this.#ended) {
      throw this.#ended;
    }

    this.#connected ??= this.#begin(signal).catch((e: unknown) => {
      this.#connected = undefined;
      this.slot.refuse("not-connected", `The client is not connected: ${messageOf(e)}`);
      throw e;
    });
    // The attempt is that of the first caller: another one's signal ends its wait only.
    await within(this.#connected, 0, signal);
  }

  async close(): Promise<void> {
    if (!this.closing.aborted) {
      this.#end(failed("closed", "The client was closed."), undefined);
      this.#closing.abort(this.#ended);
    }

    await Promise.all([...this.#open].map((session) => session.close(this.#options.closeTimeout)));
  }

  async #begin(signal: AbortSignal | undefined): Promise<void> {
    const { token, reconnectDelay, maxReconnectDelay, retryConnect } = this.#options;
    const both = signal ? AbortSignal.any([signal, this.closing]) : this.closing;
    both.throwIfAborted();
    this.slot.expect();
    const backoff = new Backoff(reconnectDelay, maxReconnectDelay);
    const session = await (retryConnect ? this.#keepTrying(backoff, both) : this.#tryOnce(await this.#tokenFor(token, both), both));
    void this.#stayConnected(session, backoff);
  }

  async #stayConnected(first: FrameSession, backoff: Backoff): Promise<void> {
    try {
      for (let session = first; ; session = await this.#keepTrying(backoff, this.closing)) {
        const connectedAt = performance.now();
        await session.retired;
        this.slot.retire(session);
        if (!this.#options.reconnect) {
          throw new Error("The connection has ended and the client does not reconnect.");
        }

        backoff.resetAfter(performance.now() - connectedAt);
      }
    } catch (e) {
      const error = failed("closed", `The client is not connected: ${messageOf(e)}`, e);
      this.#end(error, error);
    }
  }

  /** A token that was refused is not sent again: the function is asked until it returns another. */
  async #keepTrying(backoff: Backoff, signal: AbortSignal): Promise<FrameSession> {
    const { token: source, onConnectFailed } = this.#options;
    let refused: string | undefined;
    for (;;) {
      await delay(backoff.next(), signal);
      let token = "";
      try {
        token = await this.#tokenFor(source, signal);
        if (token !== refused) {
          this.slot.expect();
          return await this.#tryOnce(token, signal);
        }
      } catch (e) {
        signal.throwIfAborted();
        this.slot.failed(messageOf(e));
        notify(() => onConnectFailed(e));
        if (e instanceof FastPortError && e.failure === undefined && e.code === ErrorCode.Unauthenticated) {
          if (typeof source === "string") {
            throw e;
          }

          refused = token;
          this.slot.refuse("not-connected", `The server refused the token: ${e.message}`);
        }
      }
    }
  }

  async #tryOnce(token: string, signal: AbortSignal): Promise<FrameSession> {
    const { transport, routingId, clientName, connectTimeout, onConnected, onDisconnected } = this.#options;
    const session = await openSession(transport, this.#settings, { routingId, token, clientName }, connectTimeout, signal);
    this.#open.add(session);
    void session.closed.then(() => {
      this.#open.delete(session);
      this.slot.retire(session);
    });
    try {
      await this.#events.opened(session);
      signal.throwIfAborted();
    } catch (e) {
      session.abort("The client does not use the session.");
      throw e;
    }

    this.slot.enter(session);
    notify(() => onConnected(session));
    void session.closed.then((end) => onDisconnected(session, end));
    return session;
  }

  async #tokenFor(source: CompleteOptions["token"], signal: AbortSignal): Promise<string> {
    return typeof source === "string"
      ? source
      : within(
        Promise.resolve(source(signal)), this.#options.connectTimeout, signal, () => "The token function returned nothing in time.");
  }

  #end(reason: FastPortError, error: Error | undefined): void {
    if (!this.#ended) {
      this.#ended = reason;
      this.slot.refuse("closed", reason.message);
      this.#events.ended(error);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
