import { MessageType, Cancel } from "../messages/control.js";
import { Flag } from "../frames/frame.js";
import type { FrameParts } from "../frames/encode.js";
import type { StreamWindow } from "../streams/inflow.js";

/** What calls and answers need of their session. */
export interface Link {
  readonly window: StreamWindow;
  /** The extensions in force. */
  readonly extensions: number;
  /** Sends a frame. Ignored when the connection has ended. */
  sendFrame(frame: FrameParts): void;
  /** Undefined if there is room in the send queue; otherwise resolves when it may have come. */
  whenWritable(): Promise<void> | undefined;
  /** Whether the peer accepts a frame with a body of this size. */
  fits(bodySize: number): boolean;
}

/** Tells the peer that the reply to a request is no longer needed. */
export function sendCancel(link: Link, correlation: number): void {
  link.sendFrame({ type: MessageType.Cancel, flags: Flag.OneWay, body: Cancel.encode({ correlation }) });
}
