import { Extension, Flag, FrameDecoder, FrameError, encodeFrame } from '../frames.mjs';
import { Type, decode, encode } from '../messages.mjs';
import { Of } from '../calls.mjs';
import { Answers } from './answers.mjs';
import { StreamCall } from './stream-call.mjs';

const Nothing = Buffer.alloc(0);
const Offered = Extension.Trace | Extension.Streams | Extension.Calls;
const Linger = 1000;

/** Why a call has failed: `error` with the code of the server's error, or one of the words of conformance/README.md. */
export class CallError extends Error {
  constructor(why, message, { code = 0, detail = null } = {}) {
    super(message);
    Object.assign(this, { why, code, detail });
  }
}

/** The error of an error reply. */
export function errorOf(body) {
  try {
    const { code, message, detail } = decode('Error', body);
    return new CallError('error', message, { code, detail });
  } catch {
    return new CallError('error', 'The body of an error is malformed.', { code: 4 });
  }
}

/** A connection from its Hello to its end: the client's side of docs/protocol.md. */
export class Session {
  id = '0';
  calls = new Map();
  #socket;
  #options;
  #decoder;
  #answers;
  #maxPeerFrame = Infinity;
  #last = 0;
  #end = null;
  #isEnding = false;
  #isDeaf = false;
  #heartbeat;
  #silentSince = 0;
  #linger;

  /** `options`: handlers, onMessage, window, maxFrameBytes, timing, heartbeatInterval. */
  constructor(socket, options) {
    this.#socket = socket;
    this.#options = options;
    this.#decoder = new FrameDecoder({ maxFrameBytes: options.maxFrameBytes, timing: options.timing, extensions: 0 });
    this.#answers = new Answers(this, options.handlers, () => this.#endIfIdle());
    this.isRetired = false;
    this.retired = new Promise((resolve) => (this.#retire = () => {
      this.isRetired = true;
      resolve();
    }));
    this.closed = new Promise((resolve) => socket.on('close', () => resolve(this.#onClosed())));
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => {});
  }

  #retire;

  get extensions() {
    return this.#decoder.rules.extensions;
  }

  get window() {
    return this.#options.window;
  }

  /** Says Hello and goes by the Welcome from the next frame on. */
  async hello(hello) {
    await this.call(Type.Hello, encode('Hello', { ...hello, extensions: Offered }), {
      take: (body) => {
        const welcome = decode('Welcome', body);
        this.id = welcome.sessionId;
        this.#maxPeerFrame = welcome.maxFrameBytes || Infinity;
        this.#decoder.rules.extensions = welcome.extensions & Offered;
        this.#beginHeartbeat(Math.min(this.#options.heartbeatInterval, welcome.heartbeatMs || Infinity));
      },
    });
  }

  /** Sends a request; `take` reads the reply before the next frame is read. */
  call(type, body, { timeout = 0, signal, take = (reply) => reply, flags = 0 } = {}) {
    this.check(body.length);
    return new Promise((resolve, reject) => {
      const giveUp = (error) => {
        end();
        this.sendCancel(correlation);
        reject(error);
      };
      const onAbort = () => giveUp(new CallError('canceled', 'The program has canceled the call.'));
      const timer = timeout > 0 ? setTimeout(() => giveUp(new CallError('timed-out', `No reply came in ${timeout} ms.`)), timeout) : null;
      const correlation = this.add({
        type,
        onReply: ({ flags: received, body: reply }) => {
          if (received & Flag.More) {
            giveUp(new CallError('error', 'An item came for a request.', { code: 4 }));
            return;
          }

          end();
          if (received & Flag.Error) {
            reject(errorOf(reply));
            return;
          }

          try {
            resolve(take(reply));
          } catch (e) {
            reject(new CallError('error', `The reply is malformed: ${e.message}`, { code: 4 }));
          }
        },
        onLost: (error) => {
          end();
          reject(error);
        },
      });
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.remove(correlation);
      };
      signal?.addEventListener('abort', onAbort);
      this.send({ type, correlation, flags, deadline: this.deadline(timeout), body });
    });
  }

  request(type, body, options) {
    return this.call(type, body, { ...options, flags: this.#options.timing ? Flag.Timing : 0 });
  }

  oneWay(type, body) {
    this.check(body.length);
    this.send({ type, flags: Flag.OneWay, body });
  }

  /** Opens a call that streams. */
  stream(type, options) {
    this.check(options.body?.length ?? 0);
    if (!(this.extensions & Extension.Streams)) {
      throw new CallError('not-supported', 'The server does not support streams.');
    }

    return new StreamCall(this, type, options);
  }

  /** Says Goodbye, and ends the connection when nothing is in flight. */
  leave() {
    if (!this.isRetired) {
      this.#retire();
      this.send({ type: Type.Goodbye, flags: Flag.OneWay, body: encode('Goodbye', { code: 0 }) });
      this.#endIfIdle();
    }
  }

  abort(message) {
    this.#end ??= { code: 0, message };
    this.#socket.destroy();
  }

  // What calls and answers use.

  /** Nothing may be awaited between this and the frame. */
  check(bodySize) {
    if (this.isRetired) {
      throw new CallError('closed', 'The session takes no calls any more.');
    }

    if (!this.fits(bodySize)) {
      throw new CallError('too-large', `The body has ${bodySize} bytes; the server accepts frames of ${this.#maxPeerFrame}.`);
    }
  }

  fits(bodySize) {
    return bodySize + 8 <= this.#maxPeerFrame;
  }

  add(call) {
    do {
      this.#last = (this.#last % 0xffff_ffff) + 1;
    } while (this.calls.has(this.#last));

    this.calls.set(this.#last, call);
    return this.#last;
  }

  remove(correlation) {
    this.calls.delete(correlation);
    this.#endIfIdle();
  }

  deadline(timeout) {
    return timeout > 0 && this.extensions & Extension.Calls ? Math.ceil(timeout) : null;
  }

  send({ flags = 0, deadline = null, ...frame }) {
    if (!this.#isEnding) {
      this.#socket.write(encodeFrame({ ...frame, flags: flags | (deadline === null ? 0 : Flag.Deadline), deadline }));
    }
  }

  sendCancel(correlation) {
    this.send({ type: Type.Cancel, flags: Flag.OneWay, body: encode('Cancel', { correlation }) });
  }

  #onData(chunk) {
    this.#silentSince = performance.now();
    if (this.#isDeaf) {
      return;
    }

    try {
      for (const frame of this.#decoder.push(chunk)) {
        this.#onFrame(frame);
      }
    } catch (e) {
      if (!(e instanceof FrameError)) {
        throw e;
      }

      this.#isDeaf = true;
      this.#end ??= { code: e.code, message: e.message };
      const body = encode('Error', { code: e.code, message: e.message });
      this.send({ type: e.type, flags: Flag.Reply | Flag.Error, body });
      this.#failCalls();
      this.#endOutput();
    }
  }

  #onFrame(frame) {
    const { type, flags, correlation, body } = frame;
    if (flags & Flag.Reply) {
      if (correlation === 0 && flags & Flag.Error) {
        const { code, message } = errorOf(body);
        this.#end ??= { code, message };
      } else if (this.calls.get(correlation)?.type === type) {
        this.calls.get(correlation).onReply(frame);
      }
    } else if (!(flags & Flag.OneWay)) {
      this.#answers.onRequest(frame);
    } else if (type === Type.Goodbye) {
      const { code, reason } = decodeOneWay('Goodbye', body) ?? { code: 0, reason: '' };
      this.#end ??= { code, message: reason };
      this.leave();
    } else if (type === Type.Cancel) {
      this.#answers.cancel(decodeOneWay('Cancel', body)?.correlation);
    } else if (type === Type.Credit && this.extensions & Extension.Streams) {
      this.#onCredit(decodeOneWay('Credit', body));
    } else if (type === Type.Relay || type === Type.Publish) {
      const name = type === Type.Relay ? 'Relay' : 'Publication';
      const message = decodeOneWay(name, body);
      if (message) {
        this.#options.onMessage(name, message);
      }
    } else {
      this.#answers.onRequest(frame);
    }
  }

  #onCredit(grant) {
    if (grant?.of === Of.RequestItems) {
      this.calls.get(grant.correlation)?.onCredit?.(grant);
    } else if (grant) {
      this.#answers.onCredit(grant);
    }
  }

  #onEnd() {
    this.#retire();
    if (this.#decoder.pending !== 0) {
      this.#socket.destroy();
      return;
    }

    this.#failCalls();
    this.#answers.cancelStreams();
    this.#endIfIdle();
  }

  #onClosed() {
    this.#isEnding = true;
    this.#end ??= { code: 0, message: 'The connection has ended.' };
    this.#retire();
    clearTimeout(this.#heartbeat);
    clearTimeout(this.#linger);
    this.#failCalls();
    this.#answers.cancelAll();
    return this.#end;
  }

  #failCalls() {
    const lost = new CallError('connection-lost', `The connection was lost: ${this.#end?.message ?? 'the server has ended it'}`);
    [...this.calls.values()].forEach((call) => call.onLost(lost));
  }

  #endIfIdle() {
    if (this.isRetired && this.calls.size === 0 && this.#answers.isIdle) {
      this.#endOutput();
    }
  }

  #endOutput() {
    if (!this.#isEnding) {
      this.#retire();
      this.#isEnding = true;
      this.#socket.end();
      this.#linger = setTimeout(() => this.#socket.destroy(), Linger);
    }
  }

  // One Ping after an interval of silence; given up after the same time again.
  #beginHeartbeat(interval) {
    this.#silentSince = performance.now();
    let asked = -1;
    const look = () => {
      const now = performance.now();
      const hasAsked = asked === this.#silentSince;
      const left = this.#silentSince + interval * (hasAsked ? 2 : 1) - now;
      if (left > 0) {
        this.#heartbeat = setTimeout(look, Math.ceil(left));
      } else if (hasAsked) {
        this.abort(`The server was silent for ${2 * interval} ms.`);
      } else {
        asked = this.#silentSince;
        if (!this.isRetired) {
          this.call(Type.Ping, Nothing).catch(() => {});
        }

        this.#heartbeat = setTimeout(look, interval);
      }
    };
    this.#heartbeat = interval < 2 ** 31 ? setTimeout(look, interval) : undefined;
  }
}

// OneWay suppresses errors: a malformed message is dropped.
function decodeOneWay(name, body) {
  try {
    return decode(name, body);
  } catch {
    return undefined;
  }
}
