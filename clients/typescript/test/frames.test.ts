import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "fastport";
import { FrameDecoder, type FrameRules } from "../dist/frames/decoder.js";
import { concat, sizeOf, writeFrame, type FrameParts } from "../dist/frames/encode.js";
import { Flag, type Frame } from "../dist/frames/frame.js";
import { traceBlockOf } from "../dist/frames/trace.js";
import { Failed, Hello, Welcome } from "../dist/messages/control.js";
import { echoOf } from "./support/echo.js";
import { Random } from "./support/random.js";

const All: FrameRules = { maxFrameBytes: 2 ** 20, timing: true, extensions: 0x0b };
const Traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));

function encodeFrame(parts: FrameParts): Uint8Array {
  const bytes = new Uint8Array(sizeOf(parts));
  assert.equal(writeFrame(bytes, new DataView(bytes.buffer), 0, parts), bytes.length);
  return bytes;
}

function decode(bytes: Uint8Array, cuts: readonly number[] = [], rules = All): Frame[] {
  const frames: Frame[] = [];
  const decoder = new FrameDecoder(rules, (frame) => frames.push({ ...frame, body: frame.body.slice() }));
  for (const [i, start] of [0, ...cuts].entries()) {
    decoder.push(bytes.slice(start, cuts[i]));
  }

  assert.equal(decoder.isMidFrame, false);
  return frames;
}

const examples = {
  request: {
    bytes: hex("0f000000 0001 08 01 07000000 0a0568656c6c6f"),
    parts: { type: 0x0100, flags: Flag.Timing, correlation: 7, body: echoOf("hello") },
  },
  reply: {
    bytes: hex("1f000000 0001 09 01 07000000 0010a5d4e8000000 c419a5d4e8000000 0a0568656c6c6f"),
    parts: {
      type: 0x0100, flags: Flag.Reply, correlation: 7, timing: { received: 1_000_000_000_000n, sent: 1_000_000_002_500n },
      body: echoOf("hello"),
    },
  },
  traced: {
    bytes: hex("28000000 0001 18 01 07000000 0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 01 0a0568656c6c6f"),
    parts: { type: 0x0100, flags: Flag.Timing, correlation: 7, trace: traceBlockOf(Traceparent), body: echoOf("hello") },
  },
  item: {
    bytes: hex("09000000 0010 21 01 07000000 62"),
    parts: { type: 0x1000, flags: Flag.Reply | Flag.More, correlation: 7, body: hex("62") },
  },
};

test("the examples of the protocol page are encoded as written there", () => {
  for (const { bytes, parts } of Object.values(examples)) {
    assert.deepEqual(encodeFrame(parts), bytes);
  }

  assert.deepEqual(Hello.encode({ routingId: "p1", clientName: "cli" }), hex("0a027031 1a03636c69"));
  assert.deepEqual(
    Welcome.decode(hex("0801 12084661737450 6f7274 18808040 209875")),
    { sessionId: 1n, serverName: "FastPort", maxFrameBytes: 1_048_576, heartbeatMs: 15_000, extensions: 0 });
  assert.equal(Failed.decode(hex("0803")).code, ErrorCode.UnknownType);
});

test("frames that are cut at every byte, and all at once", () => {
  const bytes = concat(Object.values(examples).map((example) => example.bytes));
  const whole = decode(bytes);
  assert.deepEqual(whole.map((frame) => frame.body), Object.values(examples).map(({ parts }) => parts.body));
  assert.equal(whole[2]!.traceparent, Traceparent);
  assert.deepEqual(whole[1]!.timing, examples.reply.parts.timing);
  for (let cut = 1; cut < bytes.length; cut++) {
    assert.deepEqual(decode(bytes, [cut]), whole, `cut at ${cut}`);
  }

  assert.deepEqual(decode(bytes, Array.from({ length: bytes.length - 1 }, (_, i) => i + 1)), whole);
});

test("any frames in any pieces come back", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const parts = Array.from({ length: 1 + random.below(8) }, () => {
      const time = () => BigInt(random.below(2 ** 48));
      const kind = random.of(["request", "reply", "one-way", "item"] as const);
      return {
        type: random.below(65_536),
        flags: { "request": 0, "reply": Flag.Reply, "one-way": Flag.OneWay, "item": Flag.Reply | Flag.More }[kind],
        correlation: kind === "one-way" ? 0 : 1 + random.below(2 ** 32 - 1),
        timing: kind === "reply" && random.below(2) ? { received: time(), sent: time() } : undefined,
        traceparent: kind !== "reply" && kind !== "item" && random.below(2) ? Traceparent : undefined,
        deadline: kind === "request" && random.below(2) ? random.below(2 ** 32) : undefined,
        body: random.bytes(random.of([0, 1, 13, 700])),
      };
    });
    const bytes = concat(parts.map(({ traceparent = "", ...rest }) => encodeFrame({ ...rest, trace: traceBlockOf(traceparent) })));
    const cuts = Array.from({ length: random.below(6) }, () => random.below(bytes.length)).sort((a, b) => a - b);
    const seen = decode(bytes, cuts).map(({ flags, ...rest }) => ({ ...rest, flags: flags & ~(Flag.Timing | Flag.Trace | Flag.Deadline) }));
    assert.deepEqual(seen, parts, `seed ${seed}`);
  }
});

test("what breaks the format is refused, with its code", () => {
  const frame = (flags: number, { correlation = 1, version = 1, length = 8 } = {}) => {
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, length, true);
    view.setUint16(4, 0x0100, true);
    bytes.set([flags, version], 6);
    view.setUint32(8, correlation, true);
    return bytes;
  };
  const none = { ...All, extensions: 0 };
  const cases: [what: string, bytes: Uint8Array, rules?: FrameRules][] = [
    ["a length below 8", frame(0, { length: 7 })],
    ["another version", frame(0, { version: 2 })],
    ["an unknown flag", frame(0x40)],
    ["a trace on a reply", frame(Flag.Trace | Flag.Reply, { length: 33 })],
    ["a trace without agreement", frame(Flag.Trace, { length: 33 }), none],
    ["a trace block that is cut short", frame(Flag.Trace, { length: 32 })],
    ["an error that is no reply", frame(Flag.Error)],
    ["More one-way", frame(Flag.More | Flag.OneWay)],
    ["More with an error", frame(Flag.Reply | Flag.Error | Flag.More)],
    ["More without agreement", frame(Flag.More), none],
    ["a deadline on a reply", frame(Flag.Deadline | Flag.Reply, { length: 12 })],
    ["a deadline one-way", frame(Flag.Deadline | Flag.OneWay, { length: 12 })],
    ["a deadline without agreement", frame(Flag.Deadline, { length: 12 }), none],
    ["a request with correlation 0", frame(0, { correlation: 0 })],
    ["a timing block that is cut short", frame(Flag.Reply | Flag.Timing, { length: 23 })],
    ["a deadline block that is cut short", frame(Flag.Deadline, { length: 11 })],
  ];
  for (const [what, bytes, rules] of cases) {
    assert.throws(() => decode(bytes, [], rules), { code: ErrorCode.MalformedFrame }, what);
  }
});

test("a frame above the limit is refused at its first 4 bytes", () => {
  const rules = { maxFrameBytes: 1024, timing: false, extensions: 0 };
  const lengthOf = (length: number) => new Uint8Array(new Uint32Array([length]).buffer);
  assert.throws(() => decode(lengthOf(1025), [], rules), { code: ErrorCode.FrameTooLarge, type: 0 });
  assert.equal(decode(encodeFrame({ type: 1, flags: Flag.OneWay, body: new Uint8Array(1016) }), [], rules).length, 1);
});

test("the limit does not count the blocks", () => {
  const rules = { maxFrameBytes: 1024, timing: true, extensions: 0x08 };
  const timing = { received: 1n, sent: 2n };
  const reply = { type: 1, flags: Flag.Reply, correlation: 1 };
  assert.equal(decode(encodeFrame({ ...reply, timing, body: new Uint8Array(1016) }), [], rules).length, 1);
  assert.throws(
    () => decode(encodeFrame({ ...reply, body: new Uint8Array(1017) }), [], rules), { code: ErrorCode.FrameTooLarge, type: 1 });
});

test("what is no W3C traceparent makes no trace block", () => {
  const [, trace, parent] = Traceparent.split("-") as [string, string, string, string];
  const nothing = "0".repeat(32);
  for (const text of [
    "", "00", Traceparent.slice(0, -1), `${Traceparent}0`, Traceparent.toUpperCase(), `ff-${trace}-${parent}-01`,
    `00-${nothing}-${parent}-01`, `00-${trace}-${nothing.slice(16)}-01`,
  ]) {
    assert.equal(traceBlockOf(text), undefined, text);
  }

  assert.deepEqual(traceBlockOf(`01-${trace}-${parent}-01-more`), traceBlockOf(Traceparent));
});
