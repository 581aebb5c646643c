import { Flag, encodeFrame } from './frames.mjs';
import { Type, decode, encode } from './messages.mjs';

/** The values of Credit's `of`. */
export const Of = Object.freeze({ ReplyItems: 0, RequestItems: 1, Opening: 2 });

/** A Credit frame. */
export const credit = (correlation, messages, bytes, of) =>
  encodeFrame({ type: Type.Credit, flags: Flag.OneWay, body: encode('Credit', { correlation, messages, bytes, of }) });

const MaxCredit = 2 ** 31 - 1;

/** One direction's account, of the side that sends. */
export class Account {
  isClosed = false;
  #messages = 0;
  #bytes = 0;
  #waiting = null;

  /** False if the grant lifts the account above its limit. */
  grant({ messages, bytes }) {
    this.#messages += messages;
    this.#bytes += bytes;
    if (this.#messages >= 1 && this.#bytes > 0) {
      this.#wake();
    }

    return this.#messages <= MaxCredit && this.#bytes <= MaxCredit;
  }

  /** Ends the call: waiting senders resume and check `isClosed`. */
  close() {
    this.isClosed = true;
    this.#wake();
  }

  #wake() {
    this.#waiting?.();
    this.#waiting = null;
  }

  /** Waits for credit and takes it. */
  async take(bytes) {
    while (!this.isClosed && (this.#messages < 1 || this.#bytes <= 0)) {
      await new Promise((resolve) => (this.#waiting = resolve));
    }

    this.#messages -= 1;
    this.#bytes -= bytes;
  }
}

/** The caller's side of calls that stream, on one connection; `window` is what it grants for replies. */
export class Caller {
  #connection;
  #calls = new Map();

  constructor(connection, window) {
    this.#connection = connection;
    this.window = window;
    connection.onFrame = (frame) => this.#onFrame(frame);
  }

  /** Opens a call; `requests` is one body, or an array of bodies for a stream. Gives the items of the replies and the last frame. */
  async call(type, requests, { replies = true } = {}) {
    const correlation = this.#connection.nextCorrelation();
    const isStream = Array.isArray(requests);
    const call = { account: new Account(), items: [], consumed: { messages: 0, bytes: 0 } };
    this.#calls.set(correlation, call);
    const last = this.#connection.reply(correlation);
    const { messages, bytes } = replies ? this.window : { messages: 0, bytes: 0 };
    await this.#connection.write(Buffer.concat([
      credit(correlation, messages, bytes, Of.Opening),
      encodeFrame({ type, flags: isStream ? Flag.More : 0, correlation, body: isStream ? Buffer.alloc(0) : requests }),
    ]));
    for (const body of isStream ? requests : []) {
      await call.account.take(body.length);
      this.#connection.write(encodeFrame({ type, flags: Flag.More, correlation, body }));
    }

    if (isStream) {
      this.#connection.write(encodeFrame({ type, correlation }));
    }

    const end = await last;
    this.#calls.delete(correlation);
    return { items: call.items, end };
  }

  #onFrame(frame) {
    if (frame.type === Type.Credit) {
      const grant = decode('Credit', frame.body);
      if (grant.of === Of.RequestItems) {
        this.#calls.get(grant.correlation)?.account.grant(grant);
      }

      return;
    }

    const call = this.#calls.get(frame.correlation);
    call.items.push(frame.body);
    call.consumed.messages += 1;
    call.consumed.bytes += frame.body.length;
    if (call.consumed.messages * 2 >= this.window.messages || call.consumed.bytes * 2 >= this.window.bytes) {
      this.#connection.write(credit(frame.correlation, call.consumed.messages, call.consumed.bytes, Of.ReplyItems));
      call.consumed = { messages: 0, bytes: 0 };
    }
  }
}

/** The answering side of calls whose requests and replies are streams: each item is its own answer. */
export class Answerer {
  #write;
  #opening = null;
  #calls = new Map();

  constructor(write, window) {
    this.#write = write;
    this.window = window;
  }

  /** Takes a frame of a call, or Credit. */
  take(frame) {
    if (frame.type === Type.Credit) {
      const grant = decode('Credit', frame.body);
      if (grant.of === Of.Opening) {
        this.#opening = grant;
      } else if (grant.of === Of.ReplyItems) {
        this.#calls.get(grant.correlation)?.account.grant(grant);
      }

      return;
    }

    const { type, correlation } = frame;
    if (this.#opening?.correlation === correlation) {
      const call = { account: new Account(), tail: Promise.resolve() };
      call.account.grant(this.#opening);
      this.#opening = null;
      this.#calls.set(correlation, call);
      this.#write(credit(correlation, this.window.messages, this.window.bytes, Of.RequestItems));
      return;
    }

    const call = this.#calls.get(correlation);
    if (!call) {
      return; // Under way when its call ended.
    }

    const isItem = (frame.flags & Flag.More) !== 0;
    const body = Buffer.from(frame.body);
    call.tail = call.tail.then(async () => {
      if (isItem) {
        await call.account.take(body.length);
        this.#write(encodeFrame({ type, flags: Flag.Reply | Flag.More, correlation, body }));
        this.#write(credit(correlation, 1, body.length, Of.RequestItems));
      } else {
        this.#calls.delete(correlation);
        this.#write(encodeFrame({ type, flags: Flag.Reply, correlation }));
      }
    });
  }

  /** The caller has canceled a call. */
  cancel(correlation) {
    this.#calls.delete(correlation);
  }
}
