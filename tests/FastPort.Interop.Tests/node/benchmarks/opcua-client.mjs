// node-opcua as the client of the OPC UA comparison. Answers a line "run LEAD-IN SECONDS" with a line of JSON, as benchmarks/OpcUaPeer.
//   node benchmarks/opcua-client.mjs <folder for certificates> <url> read|write|package <count> <outstanding> <policy> <server's id>
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { build } from "hdr-histogram-js";
import { count as allTags, generationOf, namespaceUri, texts } from "./opcua-tags.mjs";

// The package logs to standard output, which is for the results.
const print = console.log;
console.log = console.error;
const { default: opcua } = await import("../opcua/package.mjs");
const { OPCUACertificateManager, OPCUAClient, MessageSecurityMode, SecurityPolicy, AttributeIds, DataType, StatusCodes } = opcua;

// By default no byte string may have more than 16 MiB; the largest package has 100.
opcua.BinaryStream.maxByteStringLength = 256 * 1024 * 1024;

const [root, url, operation, countText, outstandingText, policy, serverId] = process.argv.slice(2);
const [count, outstanding] = [Number(countText), Number(outstandingText)];
const client = OPCUAClient.create({
  clientCertificateManager: new OPCUACertificateManager({ rootFolder: root, automaticallyAcceptUnknownCertificate: true }),
  applicationName: "comparison",
  endpointMustExist: false,
  securityMode: MessageSecurityMode[policy === "None" ? "None" : "SignAndEncrypt"],
  securityPolicy: SecurityPolicy[policy],
  connectionStrategy: { maxRetry: 0 },
  defaultTransactionTimeout: 60_000,
  transportSettings: { maxMessageSize: 256 * 1024 * 1024, maxChunkCount: 65_536 },
});
await client.connect(url);
const session = await client.createSession();
const index = (await session.readNamespaceArray()).indexOf(namespaceUri);
if (index < 0) throw new Error(`${url} has no namespace ${namespaceUri}`);

// No text, which would be parsed again with each request.
const id = (number) => opcua.coerceNodeId(`ns=${index};i=${number}`);
const range = (from, length) => Array.from({ length }, (_, i) => from + i);
const value = (nodeId) => ({ nodeId, attributeId: AttributeIds.Value });

// As ReadLoad.cs: neighboring tags, each worker others.
function reads() {
  const blocks = range(0, allTags / count).map((block) => range(block * count, count).map((tag) => value(id(1000 + tag))));
  const next = range(0, outstanding);
  let newest = 0;
  return {
    async request(worker) {
      const block = next[worker]++ % blocks.length;
      const oldest = Date.now() - 1000;
      const least = newest - 1;
      const values = await session.read(blocks[block]);
      values.forEach((one, i) => {
        const tag = block * count + i;
        const generation = one.statusCode === StatusCodes.Good ? generationOf(tag, one.value.value) : -1;
        if (generation < 0) throw new Error(`tag ${tag} has the value ${one}, which is none of its values`);
        if (one.sourceTimestamp.getTime() < oldest) throw new Error(`the value of tag ${tag} is of ${one.sourceTimestamp.toISOString()}`);
        if (tag >= texts) return;
        if (generation < least) throw new Error(`tag ${tag} has generation ${generation} after ${least + 1} was seen`);
        newest = Math.max(newest, generation);
      });
    },
    async check() {
      if (newest === 0) throw new Error("no value has ever changed");
    },
  };
}

// As WriteLoad.cs: of one tag, each worker another one; of more, all workers the same.
function writes() {
  const nodes = range(0, outstanding).map((worker) => range(count === 1 ? worker : 0, count).map((tag) => value(id(1000 + tag))));
  const last = Array(outstanding).fill(0);
  return {
    async request(worker) {
      const number = (last[worker] = last[worker] === 0 ? worker + 1 : last[worker] + outstanding);
      const statuses = await session.write(
        nodes[worker].map((node, i) => ({ ...node, value: { value: { dataType: DataType.Int32, value: number + i } } })),
      );
      for (const status of statuses) if (status !== StatusCodes.Good) throw new Error(`a write has failed: ${status}`);
    },
    async check() {
      for (let worker = 0; worker < outstanding; worker++) {
        const values = await session.read(nodes[worker]);
        values.forEach((one, i) => {
          const number = one.value.value - i;
          const wrong = count === 1 ? number !== last[worker] : !last.includes(number);
          if (wrong) throw new Error(`a tag has the value ${one}, not the last one`);
        });
      }
    },
  };
}

// As PackageLoad.cs.
async function packages() {
  const objectId = id(90000);
  const call = async (method, inputArguments) => {
    const result = await session.call({ objectId, methodId: id(method), inputArguments });
    if (result.statusCode !== StatusCodes.Good) throw new Error(`the method has failed: ${result.statusCode}`);
    return result.outputArguments;
  };
  await call(90001, [{ dataType: DataType.UInt32, value: count }]);
  const fetch = async () => (await call(90002, []))[0].value;
  const first = await fetch();
  const part = Math.min(64, count);
  const starts = [0, Math.floor((count - part) / 2), count - part];
  return {
    async request() {
      const got = await fetch();
      if (got.length !== count || starts.some((from) => got.compare(first, from, from + part, from, from + part) !== 0)) {
        throw new Error(`a package of ${got.length} bytes came, not the one that was asked for`);
      }
    },
    async check() {},
  };
}

const load = operation === "read" ? reads() : operation === "write" ? writes() : await packages();

// CPU time in seconds and the largest resident memory in KiB, as the kernel counts them.
function figures(process) {
  const stat = readFileSync(`/proc/${process}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const peak = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${process}/status`, "utf8"));
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, peak: Number(peak[1]) };
}

async function requests(seconds, histogram) {
  const until = performance.now() + seconds * 1000;
  await Promise.all(
    range(0, outstanding).map(async (worker) => {
      for (let sent = performance.now(); sent < until; ) {
        await load.request(worker);
        const now = performance.now();
        histogram.recordValue(Math.max(1, Math.round((now - sent) * 1e6)));
        sent = now;
      }
    }),
  );
}

const newHistogram = () =>
  build({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: 3, useWebAssembly: false });

print("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [, leadIn, seconds] = line.split(" ").map(Number);
  await requests(leadIn, newHistogram());
  const histogram = newHistogram();
  const [own, server, begun] = [figures(process.pid), figures(serverId), performance.now()];
  await requests(seconds, histogram);
  const elapsed = (performance.now() - begun) / 1000;
  const [ownEnd, serverEnd] = [figures(process.pid), figures(serverId)];
  await load.check();
  const messages = histogram.totalCount;
  print(
    JSON.stringify({
      messages,
      seconds: elapsed,
      messages_per_s: messages / elapsed,
      errors: 0,
      p50_us: histogram.getValueAtPercentile(50) / 1e3,
      p95_us: histogram.getValueAtPercentile(95) / 1e3,
      p99_us: histogram.getValueAtPercentile(99) / 1e3,
      max_us: histogram.maxValue / 1e3,
      client_cpu_s: ownEnd.cpu - own.cpu,
      client_peak_rss_kb: ownEnd.peak,
      server_cpu_s: serverEnd.cpu - server.cpu,
      server_cpu_us_per_message: ((serverEnd.cpu - server.cpu) * 1e6) / messages,
      server_peak_rss_kb: serverEnd.peak,
    }),
  );
}
process.exit(0);
