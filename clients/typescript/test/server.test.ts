import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ErrorCode, FastPortClient, webSocket, type ClientOptions } from "fastport";
import { socket } from "fastport/node";
import { WebSocket } from "ws";
import { Echo, echoOf, textOf } from "./support/echo.js";
import { until } from "./support/patience.js";
import { Program } from "./support/program.js";

let server: Program;
const clients: FastPortClient[] = [];

async function connect(options: Partial<ClientOptions> = {}): Promise<FastPortClient> {
  const client = new FastPortClient({ transport: socket(server.endpoint), ...options });
  clients.push(client);
  await client.connect();
  return client;
}

before(async () => {
  server = await Program.server([], { FastPort__Routing__Peers: "true" });
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

test("a thousand echoes at a time, measured", async () => {
  const client = await connect({ timing: true });
  const replies = await Promise.all(Array.from({ length: 1000 }, async (_, i) => textOf(await client.request(Echo, echoOf(`${i}`)))));
  assert.deepEqual(replies, Array.from({ length: 1000 }, (_, i) => `${i}`));
  const { roundTrip, server: inServer, network } = client.latencies;
  assert.deepEqual([roundTrip.count, inServer.count, network.count], [1000, 1000, 1000]);
  assert.ok(inServer.max > 0 && inServer.percentile(50) < roundTrip.percentile(50));
});

test("bodies up to the server's frame limit", async () => {
  const client = await connect();
  const payload = new Uint8Array(1_048_576 - 8 - 4).fill(7);
  assert.equal((await client.request(Echo, echoOf(payload))).length, payload.length + 4);
  await assert.rejects(client.request(Echo, new Uint8Array(1_048_576 - 7)), RangeError);
  assert.equal(textOf(await client.request(Echo, echoOf("still open"))), "still open");
});

test("an unknown type is an error with code and sentence", async () => {
  const client = await connect();
  await assert.rejects(client.request(0x1234), {
    name: "FastPortError", code: ErrorCode.UnknownType, message: "Message type 0x1234 is not known here.", failure: undefined,
  });
});

test("a malformed body is an error, and the session lives", async () => {
  const client = await connect();
  await assert.rejects(client.request(Echo, new Uint8Array([0xff])), { code: ErrorCode.MalformedBody });
  assert.equal(textOf(await client.request(Echo, echoOf("on"))), "on");
});

test("an aborted call ends with the reason of its signal", async () => {
  const client = await connect();
  const abort = new AbortController();
  const reply = client.request(Echo, echoOf("x"), { signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(reply, /enough/);
  await assert.rejects(client.request(Echo, echoOf("x"), { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a request times out while the server is stopped, and the next one is answered", async () => {
  const own = await Program.server();
  const client = new FastPortClient({ transport: socket(own.endpoint) });
  await client.connect();
  own.freeze(true);
  await assert.rejects(client.request(Echo, echoOf("x"), { timeout: 50 }), { code: ErrorCode.Timeout, failure: "timed-out" });
  own.freeze(false);
  assert.equal(textOf(await client.request(Echo, echoOf("y"))), "y");
  await client.close();
  await own.stop();
});

test("a silent server is given up after two heartbeat intervals", async () => {
  const own = await Program.server();
  const ends: string[] = [];
  const client = new FastPortClient({
    transport: socket(own.endpoint), heartbeatInterval: 100, connectTimeout: 1000, onDisconnected: (_, end) => ends.push(end.message),
  });
  await client.connect();
  await new Promise((resolve) => setTimeout(resolve, 350));
  assert.deepEqual(ends, [], "Pings keep the session");
  own.freeze(true);
  await until("the session has ended", () => ends.length > 0);
  assert.match(ends[0]!, /silent for 200 ms/);
  own.freeze(false);
  await client.close();
  await own.stop();
});

test("one-way messages arrive: the server counts them", async () => {
  const client = await connect();
  for (let i = 0; i < 100; i++) {
    await client.send(0x0101, new Uint8Array(10));
  }

  const [, messages] = await client.request(0x0102);
  assert.equal(messages, 100);
});

test("a flood of one-way messages waits for the socket", async () => {
  const client = await connect({ sendQueueBytes: 65_536 });
  const body = new Uint8Array(16_384);
  await Promise.all(Array.from({ length: 500 }, () => client.send(0x0101, body)));
  const [, low, high] = await client.request(0x0102);
  assert.equal((low! & 0x7f) | (high! << 7), 500);
});

test("senders also wait where less may wait than a socket buffers", async () => {
  const own = await Program.server(["--listen", "tcp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0/game"]);
  const [tcp, ws] = own.endpoints as [string, string];
  for (const transport of [socket(tcp), webSocket(ws, { WebSocket })]) {
    const client = new FastPortClient({ transport, sendQueueBytes: 1000 });
    await client.connect();
    own.freeze(true);
    setTimeout(() => own.freeze(false), 100);
    for (let i = 0; i < 4000; i++) {
      await client.send(0x0101, new Uint8Array(4000));
    }

    const [, low, high] = await client.request(0x0102);
    assert.equal((low! & 0x7f) | (high! << 7), 4000);
    await client.close();
  }

  await own.stop();
});

test("an endpoint that is none says so, and one that nobody listens at says why", async () => {
  for (const [text, problem] of [
    ["127.0.0.1:6628", "is no endpoint"], ["localhost:6628", "is no endpoint"], ["", "is no endpoint"], ["tcp://", "is no endpoint"],
    ["tcp://host:99999", "is no endpoint"], ["tcp://host/6628", "is no endpoint"], ["tcp://host:1?x=1", "is no endpoint"],
    ["unix://run/s.sock", "is no endpoint"], ["http://host:6628", "is no endpoint"], ["wss://host/game", "is for webSocket"],
  ] as const) {
    assert.throws(() => socket(text), new RegExp(`^RangeError: '${text.replace("?", "\\?")}' ${problem}`), text);
  }

  await assert.rejects(
    new FastPortClient({ transport: socket("tcp://localhost:1") }).connect(),
    { message: /^Cannot connect to tcp:\/\/localhost:1: .*ECONNREFUSED/ });
});

test("relays reach a peer by its routing id, or are NotFound", async () => {
  const [alice, bob] = [await connect({ routingId: "alice" }), await connect({ routingId: "bob" })];
  const received = new Promise((resolve) => bob.routing.onRelayed(7, resolve));
  await alice.routing.relay("bob", 7, new Uint8Array([1, 2, 3]));
  assert.deepEqual({ ...(await received as object) }, { type: 7, from: "alice", body: Uint8Array.of(1, 2, 3) });
  await assert.rejects(alice.routing.relay("nobody", 7, new Uint8Array()), { code: ErrorCode.NotFound });

  const names: string[] = [];
  for await (const peer of alice.routing.peers()) {
    names.push(peer.routingId);
  }

  assert.deepEqual(names.filter((name) => name === "alice" || name === "bob"), ["alice", "bob"]);
});

test("a routing id that is taken is refused", async () => {
  await connect({ routingId: "taken" });
  await assert.rejects(connect({ routingId: "taken" }), { code: ErrorCode.DuplicateIdentity });
});

test("topics: a handler and a loop share a prefix", async () => {
  const [reader, writer] = [await connect(), await connect({ routingId: "writer" })];
  const handled: string[] = [];
  const stop = await reader.routing.subscribe("news/", (message) => handled.push(message.topic));
  const subscribed = new Promise<void>((resolve) => {
    void (async () => {
      for await (const message of reader.routing.readTopic("news/", { onSubscribed: resolve })) {
        assert.equal(message.from, "writer");
        if (message.topic === "news/last") {
          break;
        }
      }

      handled.push("loop left");
    })();
  });
  await subscribed;
  assert.equal(await writer.routing.publish("news/first", 1, new Uint8Array([1])), 1);
  await writer.routing.publish("other", 1, new Uint8Array([1]));
  await writer.routing.publish("news/last", 1, new Uint8Array([1]));
  await until("the loop has left", () => handled.includes("loop left"));
  assert.deepEqual(handled.filter((topic) => topic !== "loop left"), ["news/first", "news/last"]);

  await stop();
  assert.equal(await writer.routing.publish("news/late", 1, new Uint8Array()), 0);
});

test("over a Unix socket and over TLS", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fastport-ts-"));
  const [certificate, key] = [join(folder, "server.pem"), join(folder, "server.key")];
  execFileSync("openssl", [
    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate,
  ], { stdio: "ignore" });
  const own = await Program.server(
    ["--listen", `unix://${folder}/s.sock`, "--listen", "tls://127.0.0.1:0"],
    { FastPort__Tls__CertificateFile: certificate, FastPort__Tls__KeyFile: key });
  const [unix, tls] = own.endpoints as [string, string];
  for (const transport of [socket(unix), socket(tls, { tls: { ca: readFileSync(certificate) } })]) {
    const client = new FastPortClient({ transport });
    await client.connect();
    assert.equal(textOf(await client.request(Echo, echoOf(transport.endpoint))), transport.endpoint);
    await client.close();
  }

  await assert.rejects(new FastPortClient({ transport: socket(tls) }).connect(), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  await own.stop();
  rmSync(folder, { recursive: true });
});
