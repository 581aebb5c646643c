// Callers on one connection that each await their reply, compare it with their request, and call again. Prints a line of JSON.
//   node load.mjs fastport|ws|socket.io --endpoint URL --in-flight N --size BYTES --warmup S --duration S --server-pid P
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { clients } from "./clients.mjs";

// More than are in flight: a reply to another call would differ from the request.
const Payloads = 1024;
const DrainMs = 10_000;

const text = { type: "string" };
const { values, positionals: [library] } = parseArgs({
  allowPositionals: true,
  options: { endpoint: text, "in-flight": text, size: text, warmup: text, duration: text, "server-pid": text },
});
const [inFlight, size, warmup, duration, server] = ["in-flight", "size", "warmup", "duration", "server-pid"].map((n) => Number(values[n]));
const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "ascii" }));

// User and system time: fields 14 and 15 of the stat line. The name in field 2 may hold anything.
const cpuOf = (id) => {
  const stat = readFileSync(`/proc/${id}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};
const peakKilobytesOf = (id) => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "latin1"))[1]);
const read = () => ({ at: performance.now(), messages, own: process.cpuUsage(), server: cpuOf(server) });

const { isBytes, connect } = clients[library];
const payloads = Array.from({ length: Payloads }, (_, i) => {
  const payload = String(i).padStart(size, "echo ");
  return isBytes ? new TextEncoder().encode(payload) : payload;
});
const isEqual = isBytes ? (a, b) => Buffer.compare(a, b) === 0 : (a, b) => a === b;
const { call, close } = await connect(values.endpoint);

let messages = 0;
let next = 0;
let isMeasuring = false;
let isOver = false;
let roundTrips = new Float64Array(2 ** 20);
let timed = 0;

function record(ms) {
  if (timed === roundTrips.length) {
    const grown = new Float64Array(2 * timed);
    grown.set(roundTrips);
    roundTrips = grown;
  }

  roundTrips[timed++] = ms;
}

async function caller() {
  while (!isOver) {
    const payload = payloads[next++ % Payloads];
    const sent = performance.now();
    const reply = await call(payload);
    if (!isEqual(reply, payload)) throw new Error(`A reply differs from its request ${payload}: ${reply}`);
    messages++;
    if (isMeasuring) record(performance.now() - sent);
  }
}

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const callers = Promise.all(Array.from({ length: inFlight }, caller));
const pass = (seconds) => Promise.race([sleep(seconds), callers]);

await pass(warmup);
isMeasuring = true;
const from = read();
await pass(duration);
const to = read();
isMeasuring = false;
isOver = true;
const stalled = setTimeout(() => { throw new Error(`Requests had no reply within ${DrainMs} ms.`); }, DrainMs);
await callers;
clearTimeout(stalled);
await close();

const sorted = roundTrips.subarray(0, timed).sort();
const percentile = (share) => timed === 0 ? 0 : sorted[Math.min(timed - 1, Math.ceil(share * timed) - 1)] * 1000;
const seconds = (to.at - from.at) / 1000;
const count = to.messages - from.messages;
const serverCpu = to.server - from.server;
console.log(JSON.stringify({
  messages: count, seconds, messages_per_s: count / seconds, errors: 0,
  p50_us: percentile(0.5), p95_us: percentile(0.95), p99_us: percentile(0.99), p999_us: percentile(0.999), max_us: percentile(1),
  client_cpu_s: (to.own.user + to.own.system - from.own.user - from.own.system) / 1e6, client_peak_rss_kb: peakKilobytesOf("self"),
  server_cpu_s: serverCpu, server_cpu_us_per_message: count === 0 ? 0 : (serverCpu * 1e6) / count,
  server_peak_rss_kb: peakKilobytesOf(server),
}));
process.exit(0);
