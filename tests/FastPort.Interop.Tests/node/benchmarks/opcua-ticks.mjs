// node-opcua as the client that reads 2,000 tags every 100 ms and writes 200 each second, as benchmarks/OpcUaPeer/Ticks. Says "ready", and
// answers a line "run TICKS" with a line of JSON.
//   node benchmarks/opcua-ticks.mjs <folder for certificates> <url>
import { createInterface } from "node:readline";
import { PerformanceObserver } from "node:perf_hooks";
import { count as allTags, namespaceUri, texts } from "./opcua-tags.mjs";

// The package logs to standard output, which is for the results.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("../opcua/package.mjs");
const { OPCUACertificateManager, OPCUAClient, MessageSecurityMode, SecurityPolicy, AttributeIds, DataType, StatusCodes } = opcua;

const [root, url] = process.argv.slice(2);
const [periodMs, writeEvery, sampleEvery, written] = [100, 10, 10, 200];
const client = OPCUAClient.create({
  clientCertificateManager: new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true }),
  applicationName: "comparison",
  endpointMustExist: false,
  securityMode: MessageSecurityMode.None,
  securityPolicy: SecurityPolicy.None,
  connectionStrategy: { maxRetry: 0 },
});
await client.connect(url);
const session = await client.createSession();
const index = (await session.readNamespaceArray()).indexOf(namespaceUri);
if (index < 0) throw new Error(`${url} has no namespace ${namespaceUri}`);
const nodes = Array.from({ length: allTags }, (_, tag) => ({ nodeId: `ns=${index};i=${1000 + tag}`, attributeId: AttributeIds.Value }));

// What the first read brings is checked by type only; nobody else writes, so it stays.
const expected = (await session.read(nodes)).map((one, tag) => {
  const value = one.statusCode === StatusCodes.Good ? one.value.value : undefined;
  if (typeof value !== (tag < texts ? "number" : "string")) throw new Error(`tag ${tag} has the value ${one}`);
  return value;
});

let pauses = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => (pauses += entry.duration))).observe({ entryTypes: ["gc"] });

// A timer of whole milliseconds towards an absolute time; one that is early waits again.
async function waitUntil(due) {
  for (let left = due - performance.now(); left > 0; left = due - performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}

async function read() {
  const values = await session.read(nodes);
  const ended = performance.now();
  values.forEach((one, tag) => {
    if (one.statusCode !== StatusCodes.Good || one.value.value !== expected[tag]) {
      throw new Error(`tag ${tag} has the value ${one}, which is not the one that it had or got`);
    }
  });
  return ended;
}

async function write() {
  const begun = performance.now();
  const writes = nodes.slice(0, written).map((node, tag) => {
    expected[tag] = (expected[tag] + 1000) | 0;
    return { ...node, value: { value: { dataType: DataType.Int32, value: expected[tag] } } };
  });
  const statuses = await session.write(writes);
  const ended = performance.now();
  const bad = statuses.findIndex((status) => status !== StatusCodes.Good);
  if (bad >= 0) throw new Error(`tag ${bad} was not written: ${statuses[bad]}`);
  return [begun, ended];
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => (sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]);
  const mean = sorted.length === 0 ? null : sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sorted.length;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1), mean, cv: mean ? Math.sqrt(variance) / mean : null };
}

let repetitions = 0;
let rssOfFirst = 0;

async function run(ticks) {
  repetitions++;
  const first = Math.floor(ticks / 20);
  const [drifts, reads, writes, shares] = [[], [], [], []];
  let [missed, errors, firstError, begun, ended, rss, heap] = [0, 0, null, 0, 0, 0, 0];
  const pausesBegun = pauses;
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  const began = [cpu(), performance.now()];
  let last = began;
  const start = performance.now() + periodMs;
  for (let tick = 0; tick < ticks; tick++) {
    const due = start + tick * periodMs;
    if (performance.now() > due) {
      missed++;
      continue;
    }
    await waitUntil(due);
    const now = performance.now();
    if (now - due >= periodMs) {
      missed++;
      continue;
    }
    const counts = tick >= first;
    if (counts) {
      if (drifts.length === 0) begun = now;
      drifts.push((now - due) * 1e3);
    }
    try {
      const sent = performance.now();
      const answered = await read();
      if (counts) reads.push((answered - sent) * 1e3);
      ended = answered;
      if (tick % writeEvery === writeEvery - 1) {
        const [from, to] = await write();
        if (counts) writes.push((to - from) * 1e3);
        ended = to;
      }
    } catch (error) {
      errors++;
      firstError ??= error.message;
    }
    if (tick % sampleEvery === sampleEvery / 2) {
      const taken = [cpu(), performance.now()];
      shares.push(((taken[0] - last[0]) * 1e3) / (taken[1] - last[1]));
      last = taken;
      const memory = process.memoryUsage();
      [rss, heap] = [Math.max(rss, memory.rss), Math.max(heap, memory.heapUsed)];
    }
  }
  if (repetitions === 1) rssOfFirst = rss;
  const seconds = (ended - begun) / 1e3;
  const [drift, reading, writing] = [summary(drifts), summary(reads), summary(writes)];
  return {
    ticks,
    missed_ticks: missed,
    errors,
    first_error: firstError,
    read_tags_per_s: (reads.length * allTags) / seconds,
    write_tags_per_s: (writes.length * written) / seconds,
    read_p50_us: reading.p50,
    read_p95_us: reading.p95,
    read_p99_us: reading.p99,
    read_max_us: reading.max,
    read_cv: reading.cv,
    write_p50_us: writing.p50,
    write_p95_us: writing.p95,
    write_p99_us: writing.p99,
    write_max_us: writing.max,
    drift_mean_us: drift.mean,
    drift_p95_us: drift.p95,
    drift_max_us: drift.max,
    cpu_average: last[1] > began[1] ? ((last[0] - began[0]) * 1e3) / (last[1] - began[1]) : 0,
    cpu_p95: summary(shares).p95,
    rss_max_bytes: rss,
    rss_growth_bytes: repetitions > 1 ? rss - rssOfFirst : 0,
    heap_max_bytes: heap,
    gc_pause_ms: pauses - pausesBegun,
  };
}

print("ready");
for await (const line of createInterface({ input: process.stdin })) print(JSON.stringify(await run(Number(line.split(" ")[1]))));
process.exit(0);
