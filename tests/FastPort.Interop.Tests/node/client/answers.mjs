import { Account, Of } from '../calls.mjs';
import { Flag } from '../frames.mjs';
import { Type, encode } from '../messages.mjs';

const Code = Object.freeze({ UnknownType: 3, MalformedBody: 4, Overloaded: 8, Internal: 9, ReplyTooLarge: 14 });
const Nothing = Buffer.alloc(0);

/** What a handler throws to answer with an error. */
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * The requests and streams of the server, until they are answered. A handler is `{ kind, run }`: `unary` runs (body, signal) to a body,
 * `replies` is a generator of bodies, `requests` runs (items, signal) to a body.
 */
export class Answers {
  #session;
  #handlers;
  #onIdle;
  #running = new Map();
  #streams = new Map();
  #announced = null;
  #count = 0;

  constructor(session, handlers, onIdle) {
    this.#session = session;
    this.#handlers = handlers;
    this.#onIdle = onIdle;
  }

  get isIdle() {
    return this.#count === 0;
  }

  /** A request, an item of one, or a one-way message. */
  onRequest(frame) {
    const { type, flags, correlation, body } = frame;
    const isOneWay = (flags & Flag.OneWay) !== 0;
    const announced = !isOneWay && this.#announced?.correlation === correlation ? this.#announced : null;
    if (announced) {
      this.#announced = null;
    }

    const open = isOneWay ? undefined : this.#streams.get(correlation);
    const handler = this.#handlers.get(type);
    const received = process.hrtime.bigint();
    const refuse = (code, message) => isOneWay || this.#refuse(frame, received, code, message);
    if (open) {
      if (announced || open.type !== type) {
        open.fail(Code.MalformedBody, 'The correlation is that of an open call.');
      } else {
        open.onItem(flags, body);
      }
    } else if (flags & Flag.More && !announced) {
      // Of a call that has ended.
    } else if (type === Type.Ping && !isOneWay) {
      this.#reply(frame, received, Nothing);
    } else if (!handler) {
      refuse(Code.UnknownType, `The type ${type} is not known here.`);
    } else if ((handler.kind === 'unary') === (announced !== null)) {
      refuse(Code.MalformedBody, announced ? 'This type does not stream.' : 'The call was not announced.');
    } else if (handler.kind === 'unary') {
      void this.#run(frame, received, handler, isOneWay);
    } else if ((handler.kind === 'requests') !== ((flags & Flag.More) !== 0) || (flags & Flag.More && body.length !== 0)) {
      refuse(Code.MalformedBody, 'The request does not open a call of this type.');
    } else {
      const stream = new StreamAnswer(this.#session, frame, handler);
      this.#streams.set(correlation, stream);
      void this.#counted(stream.run(announced).finally(() => this.#streams.delete(correlation)));
    }
  }

  onCredit(grant) {
    if (grant.of === Of.Opening) {
      this.#announced = grant;
    } else {
      this.#streams.get(grant.correlation)?.onCredit(grant);
    }
  }

  cancel(correlation) {
    this.#running.get(correlation)?.abort();
    this.#streams.get(correlation)?.cancel();
  }

  /** The server can grant nothing more. */
  cancelStreams() {
    this.#streams.forEach((stream) => stream.cancel());
  }

  cancelAll() {
    this.cancelStreams();
    this.#running.forEach((running) => running.abort());
  }

  async #counted(work) {
    this.#count += 1;
    await work.catch(() => {});
    this.#count -= 1;
    this.#onIdle();
  }

  #run(frame, received, handler, isOneWay) {
    const { correlation, body } = frame;
    const abort = new AbortController();
    if (!isOneWay) {
      this.#running.set(correlation, abort);
    }

    return this.#counted((async () => {
      try {
        const reply = await handler.run(Buffer.from(body), abort.signal);
        if (!isOneWay && !abort.signal.aborted) {
          this.#reply(frame, received, reply ?? Nothing);
        }
      } catch (e) {
        if (!isOneWay && !abort.signal.aborted) {
          const [code, message] = e instanceof Refusal ? [e.code, e.message] : [Code.Internal, 'The handler failed.'];
          this.#refuse(frame, received, code, message);
        }
      } finally {
        this.#running.delete(correlation);
      }
    })());
  }

  #reply(frame, received, body) {
    if (!this.#session.fits(body.length)) {
      this.#refuse(frame, received, Code.ReplyTooLarge, `The reply has ${body.length} bytes.`);
      return;
    }

    this.#send(frame, received, Flag.Reply, body);
  }

  #refuse(frame, received, code, message) {
    this.#send(frame, received, Flag.Reply | Flag.Error, encode('Error', { code, message }));
  }

  #send({ type, correlation, flags }, received, reply, body) {
    const timing = flags & Flag.Timing ? { received, sent: process.hrtime.bigint() } : null;
    this.#session.send({ type, correlation, flags: reply | (flags & Flag.Timing), timing, body });
  }
}

/** The answering side of a call that streams. */
class StreamAnswer {
  #session;
  #frame;
  #handler;
  #account = new Account();
  #items = [];
  #wake = () => {};
  #credit = { messages: 0, bytes: 0 };
  #isWhole = false;
  #isOver = false;
  #abort = new AbortController();

  constructor(session, frame, handler) {
    this.#session = session;
    this.#frame = { type: frame.type, correlation: frame.correlation, body: Buffer.from(frame.body) };
    this.#handler = handler;
  }

  get type() {
    return this.#frame.type;
  }

  async run(announced) {
    const { correlation, body } = this.#frame;
    const { kind, run } = this.#handler;
    try {
      if (kind === 'replies') {
        this.onCredit({ ...announced, of: Of.ReplyItems });
        for await (const item of run(body, this.#abort.signal)) {
          await this.#account.take(item.length);
          if (this.#isOver) {
            return;
          }

          this.#send(Flag.Reply | Flag.More, item);
        }

        this.#end(Flag.Reply, Nothing);
      } else {
        this.#credit = { ...this.#session.window };
        this.#sendCredit(correlation, this.#credit);
        this.#end(Flag.Reply, await run(this.#requests(), this.#abort.signal));
      }
    } catch {
      this.fail(Code.Internal, 'The handler failed.');
    }
  }

  onItem(flags, body) {
    const isItem = (flags & Flag.More) !== 0;
    if (this.#isWhole || this.#handler.kind !== 'requests' || (!isItem && body.length !== 0)) {
      this.fail(Code.MalformedBody, 'A request came after the end of the requests, or the end has a body.');
    } else if (isItem && (this.#credit.messages < 1 || this.#credit.bytes <= 0)) {
      this.fail(Code.Overloaded, 'An item came without credit.');
    } else {
      if (isItem) {
        this.#credit.messages -= 1;
        this.#credit.bytes -= body.length;
        this.#items.push(Buffer.from(body));
      }

      this.#isWhole = !isItem;
      this.#wake();
    }
  }

  onCredit(grant) {
    if (grant.of === Of.ReplyItems && !this.#account.grant(grant)) {
      this.fail(Code.MalformedBody, 'A grant lifts an account above its limit.');
    }
  }

  fail(code, message) {
    this.#end(Flag.Reply | Flag.Error, encode('Error', { code, message }));
    this.cancel();
  }

  cancel() {
    this.#isOver = true;
    this.#abort.abort();
    this.#account.close();
    this.#wake();
  }

  async *#requests() {
    while (!this.#isOver) {
      const item = this.#items.shift();
      if (item) {
        this.#credit.messages += 1;
        this.#credit.bytes += item.length;
        this.#sendCredit(this.#frame.correlation, { messages: 1, bytes: item.length });
        yield item;
      } else if (this.#isWhole) {
        return;
      } else {
        await new Promise((resolve) => (this.#wake = resolve));
      }
    }

    throw new Error('The call is over.');
  }

  #sendCredit(correlation, { messages, bytes }) {
    this.#session.send({
      type: Type.Credit, flags: Flag.OneWay, body: encode('Credit', { correlation, messages, bytes, of: Of.RequestItems }),
    });
  }

  #end(flags, body) {
    if (!this.#isOver) {
      this.#send(flags, body);
      this.#isOver = true;
    }
  }

  #send(flags, body) {
    this.#session.send({ type: this.#frame.type, correlation: this.#frame.correlation, flags, body });
  }
}
