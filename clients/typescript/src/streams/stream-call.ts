import { ErrorCode, FastPortError, failed } from "../errors.js";
import { Flag, Nothing, type Frame } from "../frames/frame.js";
import { Credit, CreditOf, MessageType, type CreditMessage } from "../messages/control.js";
import { whenAborted } from "../session/aborts.js";
import type { Calls, PendingCall } from "../session/calls.js";
import { sendCancel, type Link } from "../session/link.js";
import { errorOf } from "../session/replies.js";
import { deadlineOf, startTimer } from "../session/time-limit.js";
import { Account } from "./account.js";
import { Inflow, NoWindow } from "./inflow.js";
import { pump, type Items } from "./pump.js";

/** A call that streams. */
export interface StreamParts {
  readonly type: number;
  /** The request, or a stream of them. */
  readonly requests: Uint8Array | Items<Uint8Array>;
  /** Whether the replies are a stream. */
  readonly streamsReplies: boolean;
  /** Milliseconds to the first reply; 0 for no limit. */
  readonly timeout: number;
  /** Milliseconds for the whole call; 0 for no limit. */
  readonly wholeTimeout: number;
  readonly signal?: AbortSignal | undefined;
  /** The trace block. */
  readonly trace?: Uint8Array | undefined;
}

/** A call that streams, of the side that opens it. Ends once: by the peer's last frame, an error, `cancel` or the end of the session. */
export class StreamCall implements PendingCall {
  readonly type: number;
  readonly #replies: Inflow;
  readonly #calls: Calls;
  readonly #link: Link;
  readonly #parts: StreamParts;
  readonly #account = new Account();
  readonly #correlation: number;
  readonly #stopWatching: () => void;
  #firstTimer: ReturnType<typeof setTimeout> | undefined;
  #wholeTimer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** Opens the call. */
  constructor(calls: Calls, link: Link, parts: StreamParts) {
    const { type, requests, streamsReplies, timeout, wholeTimeout, signal, trace } = parts;
    this.#calls = calls;
    this.#link = link;
    this.#parts = parts;
    this.type = type;
    this.#correlation = calls.add(this);
    const window = streamsReplies ? link.window : NoWindow;
    this.#replies = new Inflow(window, (messages, bytes) => this.#sendCredit(messages, bytes, CreditOf.ReplyItems));
    this.#sendCredit(window.messages, window.bytes, CreditOf.Opening);
    const isStream = !(requests instanceof Uint8Array);
    const deadline = deadlineOf(streamsReplies ? wholeTimeout : timeout, link);
    this.#send(isStream ? Flag.More : 0, isStream ? Nothing : requests, trace, deadline);

    this.#firstTimer = startTimer(timeout, () => this.cancel(failed("timed-out", `No reply came in ${timeout} ms.`)));
    this.#wholeTimer = startTimer(wholeTimeout, () => this.cancel(failed("timed-out", `The call did not end in ${wholeTimeout} ms.`)));
    this.#stopWatching = whenAborted(signal, () => this.cancel(signal!.reason));
    if (isStream) {
      void this.#sendRequests(requests);
    }
  }

  /** The replies of a stream. Leaving the loop in any way ends the call. */
  async *readAll(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.#replies;
    } finally {
      this.cancel();
    }
  }

  /** The only reply. */
  async readOne(): Promise<Uint8Array> {
    const { value } = await this.#replies.next();
    return value!;
  }

  onReply({ flags, body }: Frame): void {
    clearTimeout(this.#firstTimer);
    const { streamsReplies } = this.#parts;
    if (flags & Flag.More) {
      if (!this.#replies.add(body)) {
        this.#violate(ErrorCode.Overloaded, "An item came without credit.");
      }
    } else if (flags & Flag.Error) {
      this.#end(errorOf(body));
    } else if (streamsReplies && body.length !== 0) {
      this.#end(new FastPortError(ErrorCode.MalformedBody, "The end of a stream has a body."));
    } else {
      if (!streamsReplies) {
        this.#replies.last(body);
      }

      this.#end();
    }
  }

  onCredit({ of, messages, bytes }: CreditMessage): void {
    if (of === CreditOf.RequestItems && !this.#account.grant(messages, bytes)) {
      this.#violate(ErrorCode.MalformedBody, "A grant lifts an account above its limit.");
    }
  }

  onLost(error: Error): void {
    this.#end(error);
  }

  /** Ends the call on both sides, and drops what waits for the reader. Ignored if it has ended. */
  cancel(reason?: unknown): void {
    if (!this.#isOver) {
      sendCancel(this.#link, this.#correlation);
      this.#replies.clear();
      this.#end(reason);
    }
  }

  #violate(code: number, message: string): void {
    this.cancel(new FastPortError(code, message));
  }

  #end(error?: unknown): void {
    this.#isOver = true;
    this.#calls.remove(this.#correlation);
    this.#account.close();
    clearTimeout(this.#firstTimer);
    clearTimeout(this.#wholeTimer);
    this.#stopWatching();
    this.#replies.end(error);
  }

  async #sendRequests(requests: Items<Uint8Array>): Promise<void> {
    try {
      const isWhole = await pump(requests, this.#account, this.#link, (item) => {
        if (!this.#link.fits(item.length)) {
          throw new RangeError(`A request has ${item.length} bytes, more than the peer accepts in a frame.`);
        }

        this.#send(Flag.More, item);
      });
      if (isWhole) {
        this.#send(0, Nothing);
      }
    } catch (e) {
      this.cancel(e);
    }
  }

  #send(flags: number, body: Uint8Array, trace?: Uint8Array, deadline?: number): void {
    this.#link.sendFrame({ type: this.type, correlation: this.#correlation, flags, trace, deadline, body });
  }

  #sendCredit(messages: number, bytes: number, of: number): void {
    const body = Credit.encode({ correlation: this.#correlation, messages, bytes, of });
    this.#link.sendFrame({ type: MessageType.Credit, flags: Flag.OneWay, body });
  }
}
