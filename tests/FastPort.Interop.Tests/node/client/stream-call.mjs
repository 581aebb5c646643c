import { Account, Of } from '../calls.mjs';
import { Flag } from '../frames.mjs';
import { Type, encode } from '../messages.mjs';
import { CallError, errorOf } from './session.mjs';

const Nothing = Buffer.alloc(0);

/** A call that streams its requests, its replies or both, of the side that opens it. */
export class StreamCall {
  type;
  #session;
  #streamsReplies;
  #correlation;
  #account = new Account();
  #items = [];
  #readers = [];
  #credit;
  #consumed = { messages: 0, bytes: 0 };
  #end = null;
  #timer;
  #writing = Promise.resolve();

  /** `body` is the one request; without it the requests are a stream. */
  constructor(session, type, { body, streamsReplies, timeout = 0, signal }) {
    this.type = type;
    this.#session = session;
    this.#streamsReplies = streamsReplies;
    this.#correlation = session.add(this);
    this.#credit = streamsReplies ? { ...session.window } : { messages: 0, bytes: 0 };
    this.#sendCredit(this.#credit, Of.Opening);
    this.#send(body ? 0 : Flag.More, body ?? Nothing, session.deadline(streamsReplies ? 0 : timeout));
    signal?.addEventListener('abort', () => this.#cancel(new CallError('canceled', 'The program has canceled the call.')));
    if (timeout > 0) {
      this.#timer = setTimeout(() => this.#cancel(new CallError('timed-out', `No reply came in ${timeout} ms.`)), timeout);
    }
  }

  /** The next reply; undefined at the end. */
  next() {
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
      this.#deliver();
    });
  }

  /** Sends an item when there is credit, after those before it. */
  write(item) {
    this.#writing = this.#writing.then(async () => {
      await this.#account.take(item.length);
      if (!this.#account.isClosed) {
        this.#send(Flag.More, item);
      }
    });
  }

  /** Ends the requests. */
  finish() {
    this.#writing = this.#writing.then(() => {
      if (!this.#account.isClosed) {
        this.#send(0, Nothing);
      }
    });
  }

  onReply({ flags, body }) {
    clearTimeout(this.#timer);
    if (flags & Flag.More) {
      if (this.#credit.messages < 1 || this.#credit.bytes <= 0) {
        this.#cancel(new CallError('error', 'An item came without credit.', { code: 8 }));
        return;
      }

      this.#credit.messages -= 1;
      this.#credit.bytes -= body.length;
      this.#items.push(Buffer.from(body));
      this.#deliver();
    } else if (flags & Flag.Error) {
      this.#over({ error: errorOf(body) });
    } else if (this.#streamsReplies && body.length !== 0) {
      this.#over({ error: new CallError('error', 'The end of a stream has a body.', { code: 4 }) });
    } else {
      if (!this.#streamsReplies) {
        this.#items.push(Buffer.from(body));
      }

      this.#over({});
    }
  }

  onCredit(grant) {
    if (!this.#account.grant(grant)) {
      this.#cancel(new CallError('error', 'A grant lifts an account above its limit.', { code: 4 }));
    }
  }

  onLost(error) {
    this.#over({ error });
  }

  #cancel(error) {
    if (!this.#end) {
      this.#session.sendCancel(this.#correlation);
      this.#items = [];
      this.#over({ error });
    }
  }

  #over(end) {
    this.#end = end;
    clearTimeout(this.#timer);
    this.#account.close();
    this.#session.remove(this.#correlation);
    this.#deliver();
  }

  // Items first, then the end, which is told once: after an error comes the end.
  #deliver() {
    while (this.#readers.length !== 0 && (this.#items.length !== 0 || this.#end)) {
      const { resolve, reject } = this.#readers.shift();
      const item = this.#items.shift();
      if (item) {
        this.#consume(item);
        resolve(item);
      } else if (this.#end.error) {
        reject(this.#end.error);
        this.#end = {};
      } else {
        resolve(undefined);
      }
    }
  }

  #consume(item) {
    this.#consumed.messages += 1;
    this.#consumed.bytes += item.length;
    const { messages, bytes } = this.#session.window;
    if (!this.#end && this.#streamsReplies && (this.#consumed.messages * 2 >= messages || this.#consumed.bytes * 2 >= bytes)) {
      this.#credit.messages += this.#consumed.messages;
      this.#credit.bytes += this.#consumed.bytes;
      this.#sendCredit(this.#consumed, Of.ReplyItems);
      this.#consumed = { messages: 0, bytes: 0 };
    }
  }

  #send(flags, body, deadline = null) {
    this.#session.send({ type: this.type, correlation: this.#correlation, flags, deadline, body });
  }

  #sendCredit({ messages, bytes }, of) {
    this.#session.send({
      type: Type.Credit, flags: Flag.OneWay, body: encode('Credit', { correlation: this.#correlation, messages, bytes, of }),
    });
  }
}
