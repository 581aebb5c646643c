import { ErrorCode, FastPortError } from "../errors.js";
import { Flag, Nothing, type Frame } from "../frames/frame.js";
import { Credit, CreditOf, MessageType, type CreditMessage } from "../messages/control.js";
import type { CallContext, Handlers, StreamTypeHandler } from "../session/handlers.js";
import type { Link } from "../session/link.js";
import { sendError, sendReply, timingOf } from "../session/replies.js";
import { Account } from "./account.js";
import { Inflow, NoWindow } from "./inflow.js";
import { pump } from "./pump.js";

/** A call that streams, of the side that answers it. Ends once: by the last frame, an error, or `cancel`. */
export class StreamAnswer {
  readonly type: number;
  readonly #link: Link;
  readonly #opening: Frame;
  readonly #handler: StreamTypeHandler;
  readonly #handlers: Handlers;
  readonly #onEnd: () => void;
  readonly #account = new Account();
  readonly #requests: Inflow;
  readonly #timing: ReturnType<typeof timingOf>;
  readonly #abort = new AbortController();
  #hasAllRequests = false;
  #isOver = false;

  /** @param onEnd Called once, when the call has ended; its handler may still run. */
  constructor(link: Link, opening: Frame, handler: StreamTypeHandler, handlers: Handlers, onEnd: () => void) {
    this.#link = link;
    this.#opening = opening;
    this.#handler = handler;
    this.#handlers = handlers;
    this.#onEnd = onEnd;
    this.type = opening.type;
    this.#timing = timingOf(opening);
    const window = handler.kind === "server-stream" ? NoWindow : link.window;
    this.#requests = new Inflow(window, (messages, bytes) => this.#grant(messages, bytes));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Runs the handler. The promise ends with it and never fails. */
  async run(announced: CreditMessage, context: CallContext): Promise<void> {
    const streamsRequests = this.#handler.kind !== "server-stream";
    const { flags, body } = this.#opening;
    if (streamsRequests !== ((flags & Flag.More) !== 0) || (streamsRequests && body.length !== 0)) {
      this.fail(ErrorCode.MalformedBody, "The request does not open a call of this kind.");
      return;
    }

    this.onCredit(announced);
    if (streamsRequests) {
      this.#grant(this.#link.window.messages, this.#link.window.bytes);
    } else {
      this.#hasAllRequests = true;
      this.#requests.last(body);
      this.#requests.end();
    }

    try {
      await this.#answer(context);
    } catch (e) {
      if (!this.#isOver) {
        this.#end(this.#handlers.answerOf(e, this.type));
      }
    }
  }

  /** A request with the call's correlation after the one that has opened it. */
  onRequest({ flags, body }: Frame): void {
    if (this.#hasAllRequests) {
      this.fail(ErrorCode.MalformedBody, "A request came after the last one.");
    } else if (flags & Flag.More) {
      if (!this.#requests.add(body)) {
        this.fail(ErrorCode.Overloaded, "An item came without credit.");
      }
    } else if (body.length !== 0) {
      this.fail(ErrorCode.MalformedBody, "The end of the requests has a body.");
    } else {
      this.#hasAllRequests = true;
      this.#requests.end();
    }
  }

  onCredit({ messages, bytes }: CreditMessage): void {
    if (!this.#account.grant(messages, bytes)) {
      this.fail(ErrorCode.MalformedBody, "A grant lifts an account above its limit.");
    }
  }

  /** Ends the call with an error for the caller. */
  fail(code: number, message: string): void {
    this.#end(new FastPortError(code, message));
  }

  /** Ends the call without a frame: the caller has canceled it, or is gone. */
  cancel(): void {
    this.#over(new FastPortError(ErrorCode.None, "The call was canceled."));
  }

  async #answer(context: CallContext): Promise<void> {
    const { kind, run } = this.#handler;
    if (kind === "client-stream") {
      const reply = await run(this.#requests, context);
      if (this.#over()) {
        sendReply(this.#link, this.#opening, reply, this.#timing());
      }

      return;
    }

    const isWhole = await pump(run(this.#requests, context), this.#account, this.#link, (item) => {
      if (!this.#link.fits(item.length)) {
        throw new FastPortError(ErrorCode.ReplyTooLarge, `A reply has ${item.length} bytes.`);
      }

      this.#link.sendFrame({ type: this.type, correlation: this.#opening.correlation, flags: Flag.Reply | Flag.More, body: item });
    });
    if (isWhole && this.#over()) {
      sendReply(this.#link, this.#opening, Nothing, this.#timing());
    }
  }

  #end(error: FastPortError): void {
    if (this.#over(error)) {
      sendError(this.#link, this.#opening, error, this.#timing());
    }
  }

  /** True for the first end. */
  #over(error?: FastPortError): boolean {
    if (this.#isOver) {
      return false;
    }

    this.#isOver = true;
    this.#account.close();
    this.#requests.clear();
    this.#requests.end(error);
    this.#abort.abort(error);
    this.#onEnd();
    return true;
  }

  #grant(messages: number, bytes: number): void {
    if (!this.#isOver) {
      const body = Credit.encode({ correlation: this.#opening.correlation, messages, bytes, of: CreditOf.RequestItems });
      this.#link.sendFrame({ type: MessageType.Credit, flags: Flag.OneWay, body });
    }
  }
}
