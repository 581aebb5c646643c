import type { Latencies } from "../latency/latencies.js";
import type { StreamWindow } from "../streams/inflow.js";
import type { AnswerLimits } from "./answers.js";
import type { Caller } from "./caller.js";
import type { Handlers } from "./handlers.js";

/** Limits and times of a session, in milliseconds and bytes. */
export interface SessionSettings extends AnswerLimits {
  readonly maxFrameBytes: number;
  readonly sendQueueBytes: number;
  readonly requestTimeout: number;
  readonly heartbeatInterval: number;
  readonly timing: boolean;
  readonly traceparent: () => string | undefined;
  readonly window: StreamWindow;
  readonly handlers: Handlers;
  readonly latencies: Latencies;
}

/** Why a session has ended. */
export interface SessionEnd {
  /** The code of the peer's Goodbye or error; 0 if there was none. */
  readonly code: number;
  readonly message: string;
}

/** A connection to a server after its Welcome. Calls of a session fail when it ends. */
export interface Session extends Caller {
  /** The server's number of the session. */
  readonly id: bigint;
  readonly serverName: string;
  /** Resolves when the session has ended. */
  readonly closed: Promise<SessionEnd>;
}
