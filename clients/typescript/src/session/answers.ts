import { ErrorCode, FastPortError } from "../errors.js";
import { Flag, Nothing, type Frame } from "../frames/frame.js";
import { CreditOf, type CreditMessage } from "../messages/control.js";
import { StreamAnswer } from "../streams/stream-answer.js";
import type { CallContext, Handler, Handlers, StreamTypeHandler } from "./handlers.js";
import type { Link } from "./link.js";
import { sendError, sendReply, timingOf } from "./replies.js";
import type { Session } from "./types.js";

/** Canceled calls whose last request may still be under way. */
const Remembered = 128;

/** Limits of what a peer may have open at a time. */
export interface AnswerLimits {
  readonly maxStreams: number;
  readonly maxRequestsInFlight: number;
}

/** What answers tell their session. */
export interface AnswerEvents {
  /** The peer has as many requests in flight as it may: read nothing more until the next call with false. */
  full(isFull: boolean): void;
  /** Everything is answered. */
  idle(): void;
}

/** The requests and streams of the peer, from their arrival until they are answered. */
export class Answers {
  readonly #session: Session;
  readonly #link: Link;
  readonly #handlers: Handlers;
  readonly #limits: AnswerLimits;
  readonly #events: AnswerEvents;
  readonly #requests = new Map<number, AbortController>();
  readonly #streams = new Map<number, StreamAnswer>();
  readonly #ended: number[] = [];
  #announced: CreditMessage | undefined;
  #running = 0;
  #runningStreams = 0;

  constructor(session: Session, link: Link, handlers: Handlers, limits: AnswerLimits, events: AnswerEvents) {
    this.#session = session;
    this.#link = link;
    this.#handlers = handlers;
    this.#limits = limits;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#running + this.#streams.size === 0;
  }

  /** A request or a one-way message. */
  onFrame(frame: Frame): void {
    const { type, flags, correlation } = frame;
    const announced = this.#takeAnnounced(frame);
    const open = flags & Flag.OneWay ? undefined : this.#streams.get(correlation);
    if (open) {
      if (announced || open.type !== type) {
        open.fail(ErrorCode.MalformedBody, "The correlation is that of an open call.");
      } else {
        open.onRequest(frame);
      }

      return;
    }

    const handler = this.#handlers.get(type);
    if (flags & Flag.More && !announced) {
      return; // Of a call that has ended.
    }

    if (!handler) {
      this.#refuse(frame, ErrorCode.UnknownType, `Message type 0x${type.toString(16).padStart(4, "0")} is not known here.`);
    } else if ((handler.kind === "unary") === (announced !== undefined)) {
      // The end of the requests of a call that has just ended needs no answer.
      if (announced || !this.#ended.includes(correlation)) {
        this.#refuse(frame, ErrorCode.MalformedBody, announced ? "This type does not stream." : "The call was not announced.");
      }
    } else if (frame.deadline === 0) {
      this.#refuse(frame, ErrorCode.Timeout, "The time of the request was over when it arrived.");
    } else if (handler.kind === "unary") {
      void this.#run(frame, handler.run);
    } else if (this.#runningStreams >= this.#limits.maxStreams) {
      this.#refuse(frame, ErrorCode.Overloaded, `There are ${this.#runningStreams} open streams, as many as allowed.`);
    } else {
      void this.#runStream(frame, handler, announced!);
    }
  }

  onCredit(grant: CreditMessage): void {
    if (grant.of === CreditOf.Opening) {
      this.#announced = grant;
    } else {
      this.#streams.get(grant.correlation)?.onCredit(grant);
    }
  }

  /** The peer no longer needs a reply. */
  cancel(correlation: number): void {
    this.#requests.get(correlation)?.abort();
    this.#streams.get(correlation)?.cancel();
  }

  /** The peer has ended its output: it can grant nothing more. */
  cancelStreams(): void {
    [...this.#streams.values()].forEach((stream) => stream.cancel());
  }

  /** The session has ended. */
  cancelAll(): void {
    this.cancelStreams();
    this.#requests.forEach((request) => request.abort());
  }

  #takeAnnounced({ flags, correlation }: Frame): CreditMessage | undefined {
    const announced = this.#announced;
    if (announced?.correlation !== correlation || flags & Flag.OneWay) {
      return undefined;
    }

    this.#announced = undefined;
    return announced;
  }

  #refuse(frame: Frame, code: number, message: string): void {
    if (!(frame.flags & Flag.OneWay)) {
      sendError(this.#link, frame, new FastPortError(code, message), timingOf(frame)());
    }
  }

  async #run(frame: Frame, handler: Handler): Promise<void> {
    const timing = timingOf(frame);
    const abort = new AbortController();
    const isOneWay = (frame.flags & Flag.OneWay) !== 0;
    if (!isOneWay) {
      this.#requests.set(frame.correlation, abort);
    }

    this.#running += 1;
    if (this.#running === this.#limits.maxRequestsInFlight) {
      this.#events.full(true);
    }

    try {
      const reply = await handler(frame.body, this.#contextOf(frame, abort.signal));
      if (!isOneWay && !abort.signal.aborted) {
        sendReply(this.#link, frame, reply ?? Nothing, timing());
      }
    } catch (e) {
      if (!abort.signal.aborted) {
        const answer = this.#handlers.answerOf(e, frame.type);
        if (!isOneWay) {
          sendError(this.#link, frame, answer, timing());
        }
      }
    }

    if (this.#requests.get(frame.correlation) === abort) {
      this.#requests.delete(frame.correlation);
    }

    if (this.#running === this.#limits.maxRequestsInFlight) {
      this.#events.full(false);
    }

    this.#running -= 1;
    this.#reportIdle();
  }

  async #runStream(frame: Frame, handler: StreamTypeHandler, announced: CreditMessage): Promise<void> {
    const stream = new StreamAnswer(this.#link, frame, handler, this.#handlers, () => {
      this.#streams.delete(frame.correlation);
      this.#remember(frame.correlation);
      this.#reportIdle();
    });
    this.#streams.set(frame.correlation, stream);
    this.#runningStreams += 1;
    await stream.run(announced, this.#contextOf(frame, stream.signal));
    this.#runningStreams -= 1;
  }

  #contextOf({ type, flags, deadline, traceparent }: Frame, signal: AbortSignal): CallContext {
    return { session: this.#session, type, isOneWay: (flags & Flag.OneWay) !== 0, timeLeft: deadline, traceparent, signal };
  }

  #remember(correlation: number): void {
    if (this.#ended.push(correlation) > Remembered) {
      this.#ended.shift();
    }
  }

  #reportIdle(): void {
    if (this.isIdle) {
      this.#events.idle();
    }
  }
}
