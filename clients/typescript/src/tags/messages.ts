import { bytes, count, define, double, fixed32, flag, many, nested, sint32, text, texts, uint32, uint64 } from "../messages/fields.js";
import { Samples, fixed32s } from "./samples.js";

/** The message types of tags. */
export const TagMessageType = {
  Resolve: 0x0200,
  Read: 0x0201,
  Write: 0x0202,
  Subscribe: 0x0203,
  Unsubscribe: 0x0204,
  Update: 0x0205,
  Acknowledge: 0x0206,
  Browse: 0x0207,
  Declare: 0x0210,
  Push: 0x0211,
} as const;

export const ResolveTags = define({ names: [1, texts] });

/** The fields that describe a tag. */
const Described = {
  type: [3, uint32],
  rank: [4, sint32],
  access: [5, uint32],
  unit: [6, text],
  hasRange: [7, flag],
  low: [8, double],
  high: [9, double],
  description: [10, text],
} as const;

export const ResolvedTags = define({ tags: [1, many(define({ status: [1, fixed32], handle: [2, uint32], ...Described }))] });
export const ReadTags = define({ handles: [1, fixed32s], maxAgeMs: [2, uint32], timeoutMs: [3, uint32] });
export const WriteTags = define({ handles: [1, fixed32s], samples: [2, nested(Samples)], timeoutMs: [3, uint32] });
export const WrittenTags = define({ statuses: [1, fixed32s] });
export const SubscribeTags = define({ handles: [1, fixed32s], intervalMs: [2, uint32], queueSize: [3, uint32] });
export const SubscribedTags = define({ subscription: [1, uint32], intervalMs: [2, uint32], statuses: [3, fixed32s] });
export const UnsubscribeTags = define({ subscription: [1, uint32] });
export const TagUpdate = define({
  subscription: [1, uint32],
  number: [2, uint64],
  handles: [3, fixed32s],
  samples: [4, nested(Samples)],
  dropped: [5, count],
});
export const AcknowledgeUpdates = define({ subscription: [1, uint32], number: [2, uint64] });
export const BrowseTags = define({ path: [1, text], limit: [2, uint32], cursor: [3, bytes] });
export const DeclareTags = define({ tags: [1, many(define({ name: [1, text], ...Described }))] });
export const DeclaredTags = define({ statuses: [1, fixed32s], handles: [2, fixed32s] });
export const PushTags = define({ handles: [1, fixed32s], samples: [2, nested(Samples)] });
export const BrowsedTags = define({
  status: [1, fixed32],
  nodes: [2, many(define({ name: [1, text], displayName: [2, text], kind: [3, uint32], hasChildren: [4, flag] }))],
  cursor: [3, bytes],
});
