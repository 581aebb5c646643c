import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import WebSocket, { createWebSocketStream } from 'ws';
import { Flag, FrameDecoder, encodeFrame } from './frames.mjs';
import { Type, decode, encode } from './messages.mjs';

/** One side of a connection: replies go to whoever made the request, all else waits in order for `next` or goes to `onFrame`. */
export class Connection {
  #socket;
  #decoder = new FrameDecoder();
  #replies = new Map();
  #frames = [];
  #readers = [];
  #correlation = 0;

  constructor(socket, onFrame = null) {
    this.#socket = socket;
    this.onFrame = onFrame ?? ((frame) => this.#keep(frame));
    socket.setNoDelay?.(true);
    let orderly = false;
    let error = null;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (e) => (error = e.code ?? e.message));
    socket.on('end', () => {
      orderly = this.#decoder.pending === 0;
      socket.end();
    });

    /** How it ended: `orderly` is an end of stream after whole frames. */
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        const lost = new Error(`The connection has ended (${error ?? 'end of stream'}).`);
        [...this.#replies.values(), ...this.#readers].forEach(({ reject }) => reject(lost));
        resolve({ orderly, error });
      });
    });
  }

  /** Connects to a port, or to a WebSocket's URL. */
  static connect(target) {
    return typeof target === 'string' ? Connection.#connectWebSocket(target) : Connection.#connectSocket(target);
  }

  static #connectWebSocket(url) {
    return new Promise((resolve, reject) => {
      const webSocket = new WebSocket(url, 'fastport.v1');
      webSocket.once('error', reject);
      webSocket.once('open', () => {
        webSocket.off('error', reject);
        const connection = new Connection(createWebSocketStream(webSocket));
        connection.extensions = webSocket.extensions;
        webSocket.once('close', (code) => (connection.closeCode = code));
        resolve(connection);
      });
    });
  }

  static #connectSocket(port) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  write(bytes) {
    return new Promise((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** Writes the parts apart, with a turn of the event loop between them. */
  async writeParts(parts) {
    for (const part of parts) {
      await this.write(part);
      await nextTurn();
    }
  }

  /** The next frame that is no awaited reply. */
  next() {
    return this.#frames.length > 0
      ? Promise.resolve(this.#frames.shift())
      : new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  /** Frames nobody has asked for. */
  get unread() {
    return this.#frames;
  }

  nextCorrelation() {
    this.#correlation += 1;
    return this.#correlation;
  }

  /** The promise of the reply to a request that the caller writes himself. */
  reply(correlation) {
    return new Promise((resolve, reject) => this.#replies.set(correlation, { resolve, reject }));
  }

  request(type, body, { flags = 0, correlation = this.nextCorrelation(), trace = '', deadline = null } = {}) {
    const reply = this.reply(correlation);
    this.write(encodeFrame({ type, flags, correlation, trace, deadline, body }));
    return reply;
  }

  oneWay(type, body) {
    return this.write(encodeFrame({ type, flags: Flag.OneWay, body }));
  }

  async hello(hello = {}, name = 'Hello') {
    return await this.request(Type.Hello, encode(name, hello));
  }

  /** Ends the sending side; what comes is still read. */
  endSending() {
    this.#socket.end();
  }

  /** Ends the sending side and waits for the peer to do the same. */
  close() {
    this.#socket.end();
    return this.ended;
  }

  #receive(chunk) {
    const arrived = process.hrtime.bigint();
    try {
      for (const frame of this.#decoder.push(chunk)) {
        frame.arrived = arrived;
        const waiting = (frame.flags & (Flag.Reply | Flag.More)) === Flag.Reply ? this.#replies.get(frame.correlation) : undefined;
        if (waiting) {
          this.#replies.delete(frame.correlation);
          waiting.resolve(frame);
        } else {
          this.onFrame(frame);
        }
      }
    } catch (e) {
      this.#socket.destroy(e);
    }
  }

  #keep(frame) {
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve(frame);
    } else {
      this.#frames.push(frame);
    }
  }
}

/** A frame as the tests want to see it: the body of an error reply decoded, 64-bit values as text. */
export function describe(frame) {
  return {
    length: frame.length,
    type: frame.type,
    flags: frame.flags,
    correlation: frame.correlation,
    received: frame.timing?.received.toString() ?? null,
    sent: frame.timing?.sent.toString() ?? null,
    bodyBytes: frame.body.length,
    error: (frame.flags & Flag.Error) !== 0 ? decode('Error', frame.body) : null,
  };
}
