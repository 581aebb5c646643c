import { failed, type FastPortError } from "../errors.js";
import { FrameDecoder, FrameError, type FrameRules } from "../frames/decoder.js";
import type { FrameParts } from "../frames/encode.js";
import { Extension, Flag, HeaderSize, LengthSize, Nothing, type Frame } from "../frames/frame.js";
import { traceBlockOf } from "../frames/trace.js";
import { Cancel, Credit, CreditOf, Goodbye, Hello, MessageType, Welcome, type HelloMessage } from "../messages/control.js";
import type { StreamWindow } from "../streams/inflow.js";
import type { Items } from "../streams/pump.js";
import { StreamCall } from "../streams/stream-call.js";
import type { Connection, ConnectionEvents } from "../transports/transport.js";
import { Answers } from "./answers.js";
import type { StreamOptions } from "./caller.js";
import { Calls } from "./calls.js";
import { Heartbeat } from "./heartbeat.js";
import type { Link } from "./link.js";
import { Outbox } from "./outbox.js";
import { errorOf, sendConnectionError, sendReply, timingOf } from "./replies.js";
import { request, type CallOptions } from "./request.js";
import { TimeLimit, within } from "./time-limit.js";
import type { Session, SessionEnd, SessionSettings } from "./types.js";

/** How long the peer may take to end the connection after this side has ended its output, in milliseconds. */
const Linger = 1000;

const Offered = Extension.Trace | Extension.Streams | Extension.Calls;

/** Types below are the framework's own: their messages belong to no trace. */
const FirstTraced = 0x0100;

/** A session over a connection. Either side of a connection may be one. */
export class FrameSession implements Session, Link, ConnectionEvents {
  readonly closed: Promise<SessionEnd>;
  /** Resolves when it takes no more calls: the peer has said Goodbye, or the session has ended. */
  readonly retired: Promise<void>;
  id = 0n;
  serverName = "";
  readonly #settings: SessionSettings;
  readonly #rules: FrameRules;
  readonly #decoder: FrameDecoder;
  readonly #calls = new Calls(() => this.#endIfIdle());
  readonly #answers: Answers;
  #connection: Connection | undefined;
  #outbox: Outbox | undefined;
  #heartbeat: Heartbeat | undefined;
  #maxPeerFrame = Infinity;
  #end: SessionEnd | undefined;
  #isRetired = false;
  #isEnding = false;
  #isDeaf = false;
  #linger: ReturnType<typeof setTimeout> | undefined;
  #resolveClosed!: (end: SessionEnd) => void;
  #resolveRetired!: () => void;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
    this.#rules = { maxFrameBytes: settings.maxFrameBytes, timing: settings.timing, extensions: 0 };
    this.#decoder = new FrameDecoder(this.#rules, (frame) => this.#onFrame(frame));
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.retired = new Promise((resolve) => (this.#resolveRetired = resolve));
    this.#answers = new Answers(this, this, settings.handlers, settings, {
      full: (isFull) => this.#pause(isFull),
      idle: () => this.#endIfIdle(),
    });
  }

  get window(): StreamWindow {
    return this.#settings.window;
  }

  get extensions(): number {
    return this.#rules.extensions;
  }

  /** Whether it takes calls. */
  get isOpen(): boolean {
    return !this.#isRetired;
  }

  /** Whether it has no calls in flight, of either side. */
  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#answers.isIdle;
  }

  /** Begins, on a connection that reports to this session. */
  start(connection: Connection): void {
    this.#connection = connection;
    this.#outbox = new Outbox(connection, this.#settings.sendQueueBytes);
  }

  /** Says Hello, and goes by what Welcome says from the next frame on. */
  async hello(hello: Omit<HelloMessage, "extensions">): Promise<void> {
    if (this.#isRetired) {
      throw this.#lost();
    }

    const body = Hello.encode({ ...hello, extensions: Offered });
    const decode = (reply: Uint8Array) => this.#welcome(reply);
    await request(this.#calls, this, { type: MessageType.Hello, body, timing: false, timeout: 0, decode });
  }

  /** Puts extensions into force. */
  agree(extensions: number): void {
    this.#rules.extensions = extensions;
  }

  request(type: number, body: Uint8Array = Nothing, options?: CallOptions): Promise<Uint8Array> {
    return this.requestAs(type, body, (reply) => reply, options);
  }

  async requestAs<T>(type: number, body: Uint8Array, decode: (body: Uint8Array) => T, options: CallOptions = {}): Promise<T> {
    const trace = this.#traceOf(type, options);
    const timeout = this.#timeoutNow(options) ?? await this.#whenReady(options);
    this.#check(type, body.length, options);
    const { timing, latencies } = this.#settings;
    return request(this.#calls, this, { type, body, decode, timeout, signal: options.signal, trace, timing, latencies });
  }

  async send(type: number, body: Uint8Array = Nothing, options: CallOptions = {}): Promise<void> {
    const trace = this.#traceOf(type, options);
    if (this.whenWritable()) {
      await this.#whenReady(options);
    }

    this.#check(type, body.length, options);
    this.sendFrame({ type, flags: Flag.OneWay, trace, body });
  }

  async *stream(
    type: number, requests: Uint8Array | Items<Uint8Array>, options: StreamOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* (await this.open(type, requests, true, options)).readAll();
  }

  async sendStream(type: number, requests: Items<Uint8Array>, options: CallOptions = {}): Promise<Uint8Array> {
    return (await this.open(type, requests, false, options)).readOne();
  }

  /**
   * Opens a call that streams.
   * @throws FastPortError Nothing was sent.
   */
  async open(
    type: number, requests: Uint8Array | Items<Uint8Array>, streamsReplies: boolean, options: StreamOptions,
  ): Promise<StreamCall> {
    const trace = this.#traceOf(type, options);
    const timeout = this.#timeoutNow(options) ?? await this.#whenReady(options);
    this.#check(type, requests instanceof Uint8Array ? requests.length : 0, options);
    if (!(this.extensions & Extension.Streams)) {
      throw failed("not-supported", "The server does not support streams.");
    }

    const { wholeTimeout = 0, signal } = options;
    return new StreamCall(this.#calls, this, { type, requests, streamsReplies, timeout, wholeTimeout, signal, trace });
  }

  /** Takes no more calls, says Goodbye, and ends the connection when all calls have ended. */
  leave(): void {
    if (!this.#isRetired) {
      this.#retire();
      this.sendFrame({ type: MessageType.Goodbye, flags: Flag.OneWay, body: Goodbye.encode({}) });
      this.#endIfIdle();
    }
  }

  /** As `leave`, but waits for calls only for a time in milliseconds, and returns when the connection has ended. */
  async close(timeout: number): Promise<void> {
    this.leave();
    const timer = setTimeout(() => this.#endOutput(), timeout);
    await this.closed;
    clearTimeout(timer);
  }

  /** Ends the connection at once. */
  abort(message: string): void {
    this.#end ??= { code: 0, message };
    this.#connection?.abort();
  }

  onData(bytes: Uint8Array): void {
    this.#heartbeat?.onSign();
    if (this.#isDeaf) {
      return;
    }

    try {
      this.#decoder.push(bytes);
    } catch (e) {
      if (!(e instanceof FrameError)) {
        throw e;
      }

      this.#isDeaf = true;
      this.#end = { code: e.code, message: e.message };
      sendConnectionError(this, e);
      this.#endOutput();
      this.#calls.failAll(this.#lost());
      this.#answers.cancelAll();
    }
  }

  onEnd(): void {
    this.#retire();
    if (this.#decoder.isMidFrame) {
      this.#connection?.abort();
      return;
    }

    this.#calls.failAll(this.#lost());
    this.#answers.cancelStreams();
    this.#endIfIdle();
  }

  onClosed(error?: Error): void {
    this.#isEnding = true;
    this.#end ??= { code: 0, message: error ? `The connection was lost: ${error.message}` : "The connection has ended." };
    this.#retire();
    this.#heartbeat?.stop();
    clearTimeout(this.#linger);
    this.#calls.failAll(this.#lost(error));
    this.#answers.cancelAll();
    this.#resolveClosed(this.#end);
  }

  sendFrame(frame: FrameParts): void {
    if (!this.#isEnding) {
      this.#outbox?.send(frame);
    }
  }

  whenWritable(): Promise<void> | undefined {
    return this.#isEnding ? undefined : this.#outbox?.whenWritable();
  }

  fits(bodySize: number): boolean {
    return HeaderSize - LengthSize + bodySize <= this.#maxPeerFrame;
  }

  /** The time limit of a call in milliseconds, if there is room for it in the send queue. */
  #timeoutNow({ timeout = this.#settings.requestTimeout }: CallOptions): number | undefined {
    return this.whenWritable() ? undefined : timeout;
  }

  /** Waits for room in the send queue, and returns the milliseconds that are left. */
  async #whenReady({ timeout = this.#settings.requestTimeout, signal }: CallOptions): Promise<number> {
    const limit = new TimeLimit(timeout);
    for (let room; (room = this.whenWritable()); ) {
      await within(room, limit.left, signal);
    }

    return limit.left;
  }

  /** Nothing may be awaited between this and the frame. */
  #check(type: number, bodySize: number, { signal }: CallOptions): void {
    signal?.throwIfAborted();
    if (type !== (type & 0xffff)) {
      throw new RangeError(`A message type is a whole number from 0 to 65535, not ${type}.`);
    }

    if (this.#isRetired) {
      throw failed("closed", "The session has ended, or is about to end.");
    }

    if (!this.fits(bodySize)) {
      throw new RangeError(`The body has ${bodySize} bytes; the server accepts frames of ${this.#maxPeerFrame} bytes.`);
    }
  }

  #traceOf(type: number, { traceparent = this.#settings.traceparent() }: CallOptions): Uint8Array | undefined {
    return traceparent && this.extensions & Extension.Trace && type >= FirstTraced ? traceBlockOf(traceparent) : undefined;
  }

  #welcome(body: Uint8Array): void {
    const welcome = Welcome.decode(body);
    this.id = welcome.sessionId;
    this.serverName = welcome.serverName;
    this.#maxPeerFrame = welcome.maxFrameBytes || Infinity;
    this.agree(welcome.extensions & Offered);
    const { heartbeatInterval } = this.#settings;
    if (heartbeatInterval !== 0) {
      this.#startHeartbeat(Math.min(heartbeatInterval, welcome.heartbeatMs || heartbeatInterval));
    }
  }

  #startHeartbeat(interval: number): void {
    this.#heartbeat = new Heartbeat(
      interval,
      () => void request(this.#calls, this, { type: MessageType.Ping, body: Nothing, timing: false, timeout: 0, decode: () => {} })
        .catch(() => {}),
      () => this.abort(`The server was silent for ${2 * interval} ms.`),
    );
  }

  #pause(isFull: boolean): void {
    this.#heartbeat?.pause(isFull);
    if (isFull) {
      this.#connection?.pause();
    } else {
      this.#connection?.resume();
    }
  }

  #onFrame(frame: Frame): void {
    const { flags, correlation } = frame;
    if (!(flags & Flag.Reply)) {
      this.#onMessage(frame);
    } else if (correlation !== 0) {
      this.#calls.onReply(frame);
    } else if (flags & Flag.Error) {
      this.#onPeerEnds(errorOf(frame.body));
    }
  }

  #onMessage(frame: Frame): void {
    const { type, flags, body } = frame;
    if (!(flags & Flag.OneWay)) {
      if (type === MessageType.Ping) {
        sendReply(this, frame, Nothing, timingOf(frame)());
      } else if (!this.#isEnding) {
        this.#answers.onFrame(frame);
      }

      return;
    }

    switch (type) {
      case MessageType.Goodbye: {
        const goodbye = readOneWay(() => Goodbye.decode(body));
        this.#onPeerEnds({ code: goodbye?.code ?? 0, message: goodbye?.reason || "The server has said Goodbye." });
        this.leave();
        break;
      }

      case MessageType.Cancel:
        this.#answers.cancel(readOneWay(() => Cancel.decode(body))?.correlation ?? 0);
        break;

      case MessageType.Credit: {
        const grant = this.extensions & Extension.Streams ? readOneWay(() => Credit.decode(body)) : undefined;
        if (grant?.of === CreditOf.RequestItems) {
          this.#calls.onCredit(grant);
        } else if (grant) {
          this.#answers.onCredit(grant);
        }

        break;
      }

      default:
        this.#answers.onFrame(frame);
    }
  }

  #onPeerEnds({ code, message }: SessionEnd | FastPortError): void {
    this.#end ??= { code, message };
  }

  #retire(): void {
    this.#isRetired = true;
    this.#resolveRetired();
  }

  #endIfIdle(): void {
    if (this.#isRetired && this.isIdle) {
      this.#endOutput();
    }
  }

  #endOutput(): void {
    if (!this.#isEnding) {
      this.#retire();
      this.#isEnding = true;
      this.#outbox?.flush();
      this.#connection?.end();
      this.#linger = setTimeout(() => this.#connection?.abort(), Linger);
    }
  }

  #lost(cause?: Error): FastPortError {
    return failed("connection-lost", `The connection was lost: ${this.#end?.message ?? "the server has ended it"}`, cause);
  }
}

/** One-way messages have no reply: a malformed one is dropped. */
function readOneWay<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
