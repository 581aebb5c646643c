import { bytes, count, define, many, nested, text, uint32, uint64, type MessageOf } from "./fields.js";

/** The message types of the framework. */
export const MessageType = {
  Hello: 0x0001,
  Ping: 0x0002,
  Goodbye: 0x0003,
  Relay: 0x0004,
  Subscribe: 0x0005,
  Unsubscribe: 0x0006,
  Publish: 0x0007,
  Peers: 0x0008,
  Cancel: 0x0009,
  Credit: 0x000a,
} as const;

/** The values of Credit's `of`. */
export const CreditOf = { ReplyItems: 0, RequestItems: 1, Opening: 2 } as const;

export const Hello = define({ routingId: [1, text], token: [2, text], clientName: [3, text], extensions: [4, uint32] });
export const Welcome = define({
  sessionId: [1, uint64],
  serverName: [2, text],
  maxFrameBytes: [3, uint32],
  heartbeatMs: [4, uint32],
  extensions: [5, uint32],
});
export const Goodbye = define({ code: [1, uint32], reason: [2, text] });
export const Cancel = define({ correlation: [1, uint32] });
export const Credit = define({ correlation: [1, uint32], messages: [2, uint32], bytes: [3, uint32], of: [4, uint32] });
export const Failed = define({
  code: [1, uint32],
  message: [2, text],
  detail: [3, nested(define({ typeUrl: [1, text], value: [2, bytes] }))],
});

export const Relay = define({ to: [1, text], type: [2, uint32], body: [3, bytes], from: [4, text] });
export const Topic = define({ prefix: [1, text] });
export const Publication = define({ topic: [1, text], type: [2, uint32], body: [3, bytes], from: [4, text] });
export const Delivered = define({ sessions: [1, uint32] });
export const PeersQuery = define({ prefix: [1, text], limit: [2, uint32], after: [3, text] });
export const PeerList = define({
  peers: [1, many(define({
    sessionId: [1, uint64],
    routingId: [2, text],
    clientName: [3, text],
    connectedUnixMs: [4, count],
    messagesIn: [5, count],
    messagesOut: [6, count],
    bytesIn: [7, count],
    bytesOut: [8, count],
    node: [9, text],
  }))],
});

export type CreditMessage = MessageOf<typeof Credit>;
export type HelloMessage = MessageOf<typeof Hello>;
export type Peer = MessageOf<typeof PeerList>["peers"][number];
