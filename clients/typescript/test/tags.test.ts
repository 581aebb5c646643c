import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ErrorCode, FastPortClient } from "fastport";
import { socket } from "fastport/node";
import { TagClient, TagStatus, TagType, dateOf, isBad, isGood, statusName, timeOf, type TagChange, type TagValue } from "fastport/tags";
import { Samples, columnsOf, samplesOf } from "../dist/tags/samples.js";
import { checkValue } from "../dist/tags/tag-check.js";
import { until } from "./support/patience.js";
import { Program } from "./support/program.js";
import { Random } from "./support/random.js";

const guid = Uint8Array.from({ length: 16 }, (_, i) => i);

/** Values of each type, with the ends of their ranges. */
const scalars: [type: keyof typeof TagType, values: TagValue["value"][]][] = [
  ["Boolean", [true, false]],
  ["SByte", [-128, 127]],
  ["Byte", [0, 255]],
  ["Int16", [-32_768, 32_767]],
  ["UInt16", [0, 65_535]],
  ["Int32", [-(2 ** 31), 2 ** 31 - 1]],
  ["UInt32", [0, 2 ** 32 - 1]],
  ["Int64", [-(2n ** 63n), 2n ** 63n - 1n]],
  ["UInt64", [0n, 2n ** 64n - 1n]],
  ["Float", [1.5, -0.25]],
  ["Double", [Math.PI, -1e300]],
  ["String", ["", "Größe 𝄞"]],
  ["DateTime", [1n, timeOf(new Date("2026-01-02T03:04:05.678Z"))]],
  ["Guid", [guid]],
  ["ByteString", [new Uint8Array(0), guid]],
  ["XmlElement", ["<a/>"]],
  ["NodeId", [Uint8Array.of(0, 85)]],
  ["ExpandedNodeId", [Uint8Array.of(0, 85)]],
  ["StatusCode", [0, TagStatus.BadTimeout]],
  ["QualifiedName", [Uint8Array.of(1, 0, 1, 0, 0, 0, 65)]],
  ["LocalizedText", [Uint8Array.of(2, 1, 0, 0, 0, 65)]],
];

const values: TagValue[] = [
  ...scalars.flatMap(([name, all]) => all.map((value) => ({ type: TagType[name], value }))),
  ...scalars.map(([name, all]) => ({ type: TagType[name], value: all as never, isArray: true })),
  { type: TagType.Double, value: [1, 2, 3, 4, 5, 6], isArray: true, dimensions: [2, 3] },
  { type: TagType.String, value: [null, "", "x"], isArray: true },
  { type: TagType.Int32, value: null, isArray: true },
  { type: TagType.Int64, value: [], isArray: true },
  { type: TagType.String, value: null },
];

const roundTrip = (rows: TagValue[]) =>
  samplesOf(Samples.decode(Samples.encode(columnsOf(rows)))).map(({ status: _, sourceTime: __, serverTime: ___, ...value }) => value);

test("every type round trips, as scalar and array", () => {
  assert.deepEqual(roundTrip(values), values);
  assert.deepEqual(roundTrip([{ type: TagType.Null, value: null }, ...values]).slice(1), values);
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const rows = Array.from({ length: random.below(40) }, () => random.of(values));
    assert.deepEqual(roundTrip(rows), rows, `seed ${seed}`);
  }
});

test("one entry of statuses, times and types stands for all rows", () => {
  const columns = { ...columnsOf([]), count: 2, types: Uint8Array.of(TagType.Int32), ints: [1, 2], statuses: [5], sourceTimes: [7n] };
  assert.deepEqual(samplesOf(columns).map(({ value, status, sourceTime, serverTime }) => [value, status, sourceTime, serverTime]), [
    [1, 5, 7n, 0n], [2, 5, 7n, 0n],
  ]);
});

test("samples whose columns are too short are refused", () => {
  const whole = columnsOf([{ type: TagType.String, value: "abc" }, { type: TagType.Int32, value: [1, 2] }]);
  const data = new TextEncoder().encode("ab");
  for (const broken of [{ sizes: [] }, { data }, { lengths: [] }, { lengths: [2 ** 31 - 1] }, { ints: [1] }, { count: 3 }]) {
    assert.throws(() => samplesOf({ ...whole, ...broken }), RangeError, JSON.stringify(broken));
  }
});

test("statuses and times", () => {
  assert.deepEqual([isGood(0), isBad(TagStatus.BadTimeout), isBad(0x4000_0000), isGood(0x4000_0000)], [true, true, false, false]);
  assert.deepEqual([statusName(TagStatus.BadTimeout), statusName(0x80ff0000)], ["BadTimeout", "0x80ff0000"]);
  assert.equal(timeOf(new Date(0)), 116_444_736_000_000_000n);
  assert.equal(dateOf(timeOf(new Date("2026-01-02T03:04:05.678Z"))).toISOString(), "2026-01-02T03:04:05.678Z");
});

let bridge: Program;
let client: FastPortClient;
let tags: TagClient;
const startBridge = (endpoint = "tcp://127.0.0.1:0") => Program.start(
  "src/FastPort.OpcBridge", ["--listen", endpoint], { OpcBridge__AllowPublish: "true", OpcBridge__Listen: "opc.tcp://127.0.0.1:0" });

before(async () => {
  bridge = await startBridge();
  client = new FastPortClient({ transport: socket(bridge.endpoint), routingId: "publisher" });
  tags = new TagClient(client);
  await client.connect();
});
after(async () => {
  await client.close();
  await bridge.kill();
});

test("tags of the bridge: browse, describe, read and write", async () => {
  const names = [];
  for await (const node of tags.browse("simulation")) {
    names.push(`${node.kind} ${node.name}`);
  }

  assert.ok(names.includes("tag simulation/Int32.0") && names.length >= 2000, `${names.length} nodes`);
  await assert.rejects(async () => {
    for await (const _ of tags.browse("nowhere"));
  }, /'nowhere' cannot be browsed: BadNodeIdUnknown/);

  const [info] = await tags.describe(["simulation/Double.0"]);
  assert.deepEqual([info!.type, info!.rank, info!.isWritable], [TagType.Double, -1, true]);
  assert.equal(await tags.write("simulation/Double.0", 1.25), TagStatus.Good);
  assert.equal(await tags.write("simulation/Double.0", { type: TagType.String, value: "x" }), TagStatus.BadTypeMismatch);
  const [text, unknown] = await tags.readMany(["simulation/String.0", "simulation/none"], { maxAge: 1000 });
  assert.match(text!.value as string, /^tag-value-/);
  assert.ok(text!.sourceTime > timeOf(new Date("2020-01-01")));
  assert.deepEqual([unknown!.status, unknown!.value], [TagStatus.BadNodeIdUnknown, null]);
  await assert.rejects(tags.write("simulation/none", 1), RangeError);
  for (const value of ["1,25", "1.25", 5n, true, null, undefined!, [1, "2"]]) {
    await assert.rejects(tags.write("simulation/Double.0", value), /RangeError: A value for simulation\/Double.0 .* no Double/);
  }

  await assert.rejects(tags.write("simulation/String.0", 5), /is '5' \(number\), which is no String/);

  // The simulation changes it now and then.
  while ((await tags.read("simulation/Double.0")).value !== 1.25) {
    assert.equal(await tags.write("simulation/Double.0", 1.25), TagStatus.Good);
  }
});

test("every type passes through the bridge unchanged", async () => {
  const pushed = values.filter(({ value }) => value !== null);
  const names = pushed.map((_, i) => `ts/value${i}`);
  const publication = await tags.publish(pushed.map(({ type, isArray, dimensions }, i) =>
    ({ name: names[i]!, type, rank: dimensions?.length ?? (isArray ? 1 : -1) })));
  assert.ok([...publication.statuses.values()].every((status) => status === TagStatus.Good), JSON.stringify([...publication.statuses]));
  assert.equal((await tags.read(names[0]!, { maxAge: 60_000 })).status, TagStatus.BadWaitingForInitialData);
  names.forEach((name, i) => publication.set(name, pushed[i]!));
  const isThere = async () => (await tags.read(names.at(-1)!, { maxAge: 60_000 })).status === TagStatus.Good;
  while (!(await isThere()));
  const samples = await tags.readMany(names, { maxAge: 60_000 });
  for (const [i, { status, sourceTime: _, serverTime: __, ...value }] of samples.entries()) {
    assert.equal(status, TagStatus.Good, names[i]);
    assert.deepEqual(value, pushed[i], names[i]);
  }

  await publication.close();
});

test("published tags: others watch and write them, and see when the publication ends", async () => {
  const other = new FastPortClient({ transport: socket(bridge.endpoint), routingId: "other" });
  const others = new TagClient(other);
  await other.connect();
  const written: unknown[] = [];
  const publication = await tags.publish([
    { name: "press/speed", type: TagType.Double, value: 0, unit: "rpm", range: [0, 100], description: "the motor's" },
    { name: "press/limit", type: TagType.Double, value: 90, onWrite: ({ value }) => void written.push(value) },
    {
      name: "press/mode", type: TagType.Int32, value: 1,
      onWrite: ({ value }) => {
        publication.set("press/mode", Math.min(value as number, 3));
        return value === 9 ? TagStatus.BadUserAccessDenied : TagStatus.Good;
      },
    },
  ]);
  const [info] = await others.describe(["press/speed"]);
  assert.deepEqual(
    [info!.unit, info!.range, info!.description, info!.isWritable, info!.isReadable], ["rpm", [0, 100], "the motor's", false, true]);
  assert.equal((await others.read("press/speed")).value, 0);
  const seen: TagChange[] = [];
  const watching = new AbortController();
  const watch = (async () => {
    for await (const change of others.watch(["press/speed"], { interval: 10, signal: watching.signal })) {
      seen.push(change);
    }
  })();
  await until("the first value is seen", () => seen.length === 1);
  publication.set("press/speed", 12.5);
  await until("a change is seen", () => seen.at(-1)!.sample.value === 12.5);
  publication.set("press/speed", 13, { status: 0x4000_0000, sourceTime: timeOf(new Date("2026-01-02")) });
  await until("a status is seen", () => seen.at(-1)!.sample.status === 0x4000_0000);
  assert.equal(seen.at(-1)!.sample.sourceTime, timeOf(new Date("2026-01-02")));

  const statuses = await others.writeMany([["press/limit", 50], ["press/mode", 8], ["press/mode", 9], ["press/speed", 1]]);
  assert.deepEqual(statuses, [TagStatus.Good, TagStatus.Good, TagStatus.BadUserAccessDenied, TagStatus.BadNotWritable]);
  assert.deepEqual([written, (await others.read("press/limit")).value, (await others.read("press/mode")).value], [[50], 50, 3]);
  const taken = await others.publish([{ name: "press/speed", type: TagType.Double }]);
  assert.equal(taken.statuses.get("press/speed"), TagStatus.BadNodeIdExists);
  assert.throws(() => publication.set("press/none", 1), RangeError);
  assert.throws(() => publication.set("press/mode", "three"), /for press\/mode is 'three' \(string\), which is no Int32/);
  publication.set("press/speed", { type: TagType.String, value: "fast" });
  await until("the server's answer is known", () => publication.statuses.get("press/speed") === TagStatus.BadTypeMismatch);

  await publication.close();
  await until("the end is seen", () => seen.at(-1)!.sample.status === TagStatus.BadNoCommunication);
  watching.abort(new Error("enough"));
  await assert.rejects(watch, /enough/);
  await other.close();
});

test("without a routing id, tags are not published", async () => {
  const anonymous = new FastPortClient({ transport: socket(bridge.endpoint) });
  await anonymous.connect();
  await assert.rejects(new TagClient(anonymous).publish([{ name: "press/none", type: TagType.Double }]), { code: ErrorCode.Forbidden });
  await anonymous.close();
});

test("a watch begins with the present samples, follows changes, and ends with its loop", async () => {
  const seen: TagChange[] = [];
  for await (const change of tags.watch(["simulation/Int32.0", "simulation/none", "simulation/String.1"], { interval: 20 })) {
    seen.push(change);
    if (seen.filter(({ name }) => name === "simulation/Int32.0").length === 8) {
      break;
    }
  }

  assert.deepEqual(seen[0], {
    name: "simulation/none", dropped: 0,
    sample: { type: TagType.Null, value: null, status: TagStatus.BadNodeIdUnknown, sourceTime: 0n, serverTime: 0n },
  });
  const numbers = seen.filter(({ name }) => name === "simulation/Int32.0").map(({ sample }) => sample.value as number);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
  assert.ok(seen.some(({ name }) => name === "simulation/String.1"));
});

test("a watch and a publication outlive the bridge", async () => {
  let own = await startBridge();
  const ownClient = new FastPortClient({ transport: socket(own.endpoint), routingId: "outlives" });
  const ownTags = new TagClient(ownClient);
  await ownClient.connect();
  const publication = await ownTags.publish([{ name: "ts/kept", type: TagType.Int32, value: 1 }]);
  const statuses: number[] = [];
  const abort = new AbortController();
  const watching = (async () => {
    for await (const { sample } of ownTags.watch(["simulation/Double.1"], { interval: 20, signal: abort.signal })) {
      statuses.push(sample.status);
    }
  })();
  await until("there is a sample", () => statuses.includes(TagStatus.Good));
  await own.kill();
  await until("the tag is lost", () => statuses.includes(TagStatus.BadNoCommunication));
  publication.set("ts/kept", 2);
  own = await startBridge(own.endpoint);
  await until("the tag is back", () => statuses.at(-1) === TagStatus.Good);
  let kept: unknown;
  while (kept !== 2) {
    kept = (await ownTags.read("ts/kept", { maxAge: 60_000 })).value;
  }

  abort.abort(new Error("enough"));
  await assert.rejects(watching, /enough/);
  await ownClient.close();
  await own.kill();
});

test("a value that is none of its type is found before it is encoded", () => {
  const { Boolean, SByte, Byte, UInt16, UInt32, Int64, UInt64, DateTime, Float, XmlElement, ByteString, Guid, Null } = TagType;
  const check = (type: number, value: unknown) => checkValue("t", { type, value } as TagValue);
  for (const [type, value] of [
    [Boolean, 1], [SByte, 128], [SByte, -129], [Byte, -1], [Byte, 256], [Byte, 1.5], [Byte, 1n], [Byte, [1, 256]], [Byte, null],
    [UInt16, 65_536], [UInt32, 2 ** 32], [Int64, 2n ** 63n], [Int64, 2 ** 60], [UInt64, -1n], [Float, "1"], [XmlElement, 5],
    [ByteString, "x"], [Guid, "x"], [Null, 0],
  ] as const) {
    assert.throws(() => check(type, value), RangeError, `${type} ${value}`);
  }

  for (const [type, value] of [
    [Boolean, false], [SByte, -128], [Byte, 255], [Byte, []], [Byte, [0, 255]], [UInt16, 65_535], [UInt32, 2 ** 32 - 1],
    [Int64, -(2n ** 63n)], [UInt64, 2n ** 64n - 1n], [DateTime, 5], [Float, NaN], [XmlElement, null], [ByteString, new Uint8Array(1)],
    [Guid, null], [Null, null],
  ] as const) {
    assert.doesNotThrow(() => check(type, value), `${type} ${value}`);
  }
});
