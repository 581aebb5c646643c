import { TraceSize } from "./frame.js";

/** W3C Trace Context, 3.2: version, trace id, parent id and flags. Later versions may have more behind them. */
const TraceParent = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/;

/** The trace block of a `traceparent`; undefined if it is none. */
export function traceBlockOf(traceparent: string): Uint8Array | undefined {
  const [, trace = "", parent = "", flags = ""] = TraceParent.exec(traceparent) ?? [];
  return /[^0]/.test(trace) && /[^0]/.test(parent)
    ? Uint8Array.from({ length: TraceSize }, (_, i) => parseInt((trace + parent + flags).slice(2 * i, 2 * i + 2), 16))
    : undefined;
}

/** The `traceparent` of a trace block; undefined if it has no context. */
export function traceParentOf(block: Uint8Array): string | undefined {
  const hex = Array.from(block, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const traceparent = `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-${hex.slice(48)}`;
  return traceBlockOf(traceparent) && traceparent;
}
