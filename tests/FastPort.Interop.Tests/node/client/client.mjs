import { setTimeout as delay } from 'node:timers/promises';
import { Type, decode, encode } from '../messages.mjs';
import { connect } from './connect.mjs';
import { CallError, Session } from './session.mjs';

const Defaults = {
  requestTimeout: 30_000, connectTimeout: 5000, closeTimeout: 5000, heartbeatInterval: 15_000, maxFrameBytes: 2 ** 20, reconnect: true,
  window: { messages: 256, bytes: 128 * 1024 }, timing: false, hello: {}, handlers: new Map(), authority: undefined,
};
const ReconnectDelay = 20;
const ShuttingDown = 10;

/** A client that connects again until it is closed. */
export class Client {
  #options;
  #session = null;
  #waiting = [];
  #open = new Set();
  #prefixes = new Map();
  #ended = new CallError('not-connected', 'The client is not connected.');
  #isClosed = false;

  constructor(options) {
    this.#options = { ...Defaults, ...options };
  }

  async connect() {
    const session = await this.#openSession();
    this.#ended = null;
    void this.#stayConnected(session);
  }

  request(type, body, options) {
    return this.#onSession((session, left) => session.request(type, body, { ...options, timeout: left }), options);
  }

  oneWay(type, body) {
    return this.#onSession(async (session) => session.oneWay(type, body));
  }

  stream(type, options) {
    const { timeout = this.#options.requestTimeout } = options;
    return this.#onSession(async (session) => session.stream(type, { ...options, timeout }));
  }

  relay(to, type, body, options) {
    return this.request(Type.Relay, encode('Relay', { to, type, body }), options);
  }

  async publish(topic, type, body, options) {
    return decode('Delivered', await this.request(Type.Publish, encode('Publication', { topic, type, body }), options)).sessions;
  }

  async subscribe(prefix, receive, options) {
    this.#prefixes.set(prefix, receive);
    try {
      await this.request(Type.Subscribe, encode('Topic', { prefix }), options);
    } catch (e) {
      this.#prefixes.delete(prefix);
      throw e;
    }
  }

  async unsubscribe(prefix, options) {
    this.#prefixes.delete(prefix);
    await this.request(Type.Unsubscribe, encode('Topic', { prefix }), options);
  }

  async peers(prefix, options) {
    const ids = [];
    for (let after = ''; ; after = ids.at(-1)) {
      const { peers } = decode('PeerList', await this.request(Type.Peers, encode('PeersQuery', { prefix, after }), options));
      if (peers.length === 0) {
        return ids;
      }

      ids.push(...peers.map(({ routingId }) => routingId));
    }
  }

  async close() {
    this.#isClosed = true;
    this.#endWith(new CallError('closed', 'The client was closed.'));
    await Promise.all([...this.#open].map(async (session) => {
      session.leave();
      const timer = setTimeout(() => session.abort('The client was closed.'), this.#options.closeTimeout);
      await session.closed;
      clearTimeout(timer);
    }));
  }

  async #openSession() {
    const { endpoint, authority, connectTimeout, hello, onConnected, onDisconnected } = this.#options;
    const abort = new AbortController();
    const tooLate = new CallError('timed-out', `${endpoint} did not answer in ${connectTimeout} ms.`);
    let session;
    const attempt = (async () => {
      session = new Session(await connect(endpoint, authority, abort.signal), { ...this.#options, onMessage: this.#onMessage });
      await session.hello(hello);
    })();
    const timer = setTimeout(() => {
      abort.abort();
      session?.abort(tooLate.message);
    }, connectTimeout);
    try {
      await attempt.catch((e) => Promise.reject(abort.signal.aborted ? tooLate : e));
      const topics = [...this.#prefixes.keys()];
      await Promise.all(topics.map((prefix) => session.request(Type.Subscribe, encode('Topic', { prefix }), { timeout: connectTimeout })));
      if (this.#isClosed) {
        throw this.#ended;
      }
    } catch (e) {
      session?.abort('The attempt to connect has failed.');
      throw e;
    } finally {
      clearTimeout(timer);
    }

    this.#open.add(session);
    void session.closed.then((end) => {
      this.#open.delete(session);
      onDisconnected(end);
    });
    onConnected(session);
    this.#session = session;
    this.#waiting.splice(0).forEach(({ resolve }) => resolve(session));
    return session;
  }

  async #stayConnected(session) {
    for (let attempts = 0; !this.#isClosed; ) {
      if (session) {
        await session.retired;
        attempts = 0;
      }

      if (!this.#options.reconnect) {
        this.#endWith(new CallError('closed', 'The connection has ended.'));
        return;
      }

      await delay(Math.min(attempts * ReconnectDelay, 5 * ReconnectDelay));
      attempts += 1;
      session = this.#isClosed ? null : await this.#openSession().catch(() => null);
    }
  }

  #endWith(error) {
    this.#ended ??= error;
    if (this.#isClosed) {
      this.#ended = error;
    }

    this.#waiting.splice(0).forEach(({ reject }) => reject(error));
  }

  // On the session now, or the next one; again if it was not sent, or was refused by a server that stops.
  async #onSession(call, { timeout = this.#options.requestTimeout } = {}) {
    const end = performance.now() + timeout;
    for (;;) {
      const session = await this.#whenConnected(end - performance.now());
      try {
        return await call(session, Math.max(1, end - performance.now()));
      } catch (e) {
        const isRefused = e.why === 'error' && e.code === ShuttingDown && this.#options.reconnect && !this.#isClosed;
        if (e.why !== 'closed' && !isRefused) {
          throw e;
        }

        session.leave();
      }
    }
  }

  #whenConnected(left) {
    if (this.#ended) {
      return Promise.reject(this.#ended);
    }

    if (this.#session && !this.#session.isRetired) {
      return Promise.resolve(this.#session);
    }

    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new CallError('timed-out', 'There was no connection in time.')), left);
      const settle = (how) => (value) => {
        clearTimeout(timer);
        how(value);
      };
      this.#waiting.push({ resolve: settle(resolve), reject: settle(reject) });
    });
  }

  #onMessage = (name, message) => {
    if (name === 'Relay') {
      this.#options.onRelayed(message);
      return;
    }

    for (const [prefix, receive] of this.#prefixes) {
      if (message.topic.startsWith(prefix)) {
        receive(message);
      }
    }
  };
}
