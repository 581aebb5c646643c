import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, FastPortClient, FastPortError, webSocket } from "fastport";
import { socket } from "fastport/node";
import { WebSocket } from "ws";
import { Backoff } from "../dist/client/backoff.js";
import { Goodbye, Hello, MessageType, Welcome } from "../dist/messages/control.js";
import type { FrameSession } from "../dist/session/session.js";
import { Echo, echoOf, textOf } from "./support/echo.js";
import { deferred, until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Program } from "./support/program.js";
import { Random } from "./support/random.js";

test("the server is killed and started again: what was in flight fails, what comes later waits, subscriptions return", async () => {
  let server = await Program.server();
  const events: string[] = [];
  const client = new FastPortClient({
    transport: socket(server.endpoint), requestTimeout: 20_000,
    onConnected: () => events.push("connected"), onDisconnected: () => events.push("disconnected"),
  });
  await client.connect();
  const topics: string[] = [];
  await client.routing.subscribe("news/", ({ topic }) => topics.push(topic));

  server.freeze(true);
  const inFlight = client.request(Echo, echoOf("in flight"));
  await client.send(0x0101);
  void server.kill();
  await assert.rejects(inFlight, { failure: "connection-lost" });
  await until("the session has ended", () => events.includes("disconnected"));
  const waiting = client.request(Echo, echoOf("waits"));
  server = await Program.server(["--listen", server.endpoint]);
  assert.equal(textOf(await waiting), "waits");
  assert.equal(await client.routing.publish("news/again", 1, new Uint8Array()), 1);
  await until("the publication has come", () => topics.length === 1);
  assert.deepEqual(events, ["connected", "disconnected", "connected"]);
  await client.close();
  await server.stop();
  await assert.rejects(client.request(Echo), { failure: "closed" });
});

for (const listen of ["tcp://127.0.0.1:0", "ws://127.0.0.1:0/game"]) test(`${listen}: a graceful restart fails no request`, async () => {
  let server = await Program.server(["--listen", listen]);
  const { endpoint } = server;
  const client = new FastPortClient({ transport: listen.startsWith("ws") ? webSocket(endpoint, { WebSocket }) : socket(endpoint) });
  await client.connect();
  let answered = 0;
  let isDone = false;
  const load = Promise.all(Array.from({ length: 8 }, async () => {
    while (!isDone) {
      await client.request(Echo, echoOf("x"));
      answered += 1;
    }
  }));
  await until("requests are answered", () => answered > 100);
  await server.stop();
  server = await Program.server(["--listen", endpoint]);
  const before = answered;
  await until("requests are answered again", () => answered > before + 100);
  isDone = true;
  await load;
  await client.close();
  await server.stop();
});

test("before connect, and after a failed one, requests fail at once", async () => {
  const client = new FastPortClient({ transport: socket("tcp://127.0.0.1:1") });
  await assert.rejects(client.request(Echo), { failure: "not-connected" });
  await assert.rejects(client.connect(), { code: "ECONNREFUSED" });
  await assert.rejects(client.request(Echo), { failure: "not-connected" });
  await client.close();
});

test("the signal of a second connect ends only its own wait", async () => {
  const client = new FastPortClient({ transport: socket("tcp://127.0.0.1:1"), retryConnect: true });
  let firstHasEnded = false;
  const first = client.connect().finally(() => (firstHasEnded = true));
  const other = new AbortController();
  const second = client.connect({ signal: other.signal });
  other.abort(new Error("enough"));
  await assert.rejects(second, /enough/);
  assert.equal(firstHasEnded, false);
  await client.close();
  await assert.rejects(first, { failure: "closed" });
});

test("a request that found no connection in time says why the last attempt failed", async () => {
  let connected!: Promise<void>;
  let client!: FastPortClient;
  await new Promise<void>((resolve) => {
    client = new FastPortClient({ transport: socket("tcp://127.0.0.1:1"), retryConnect: true, onConnectFailed: () => resolve() });
    connected = client.connect();
  });
  await assert.rejects(client.request(Echo, undefined, { timeout: 20 }), {
    failure: "timed-out", message: /in time\. The last attempt failed: .*ECONNREFUSED/,
  });
  await client.close();
  await assert.rejects(connected, { failure: "closed" });
});

test("with retryConnect, connect and requests wait for a server that starts later", async () => {
  const first = await Program.server();
  const { endpoint } = first;
  await first.stop();
  const client = new FastPortClient({ transport: socket(endpoint), retryConnect: true });
  const connected = client.connect();
  const reply = client.request(Echo, echoOf("early"));
  const server = await Program.server(["--listen", endpoint]);
  await connected;
  assert.equal(textOf(await reply), "early");
  await client.close();
  await server.stop();
});

test("a request that a stopping server has refused goes to the next session", async () => {
  const server = new LocalServer();
  server.handlers.add(Echo, {
    kind: "unary",
    run: (body) => {
      if (server.sessions.length === 1) {
        throw new FastPortError(ErrorCode.ShuttingDown, "The server stops.");
      }

      return body;
    },
  });
  const client = new FastPortClient({ transport: server });
  await client.connect();
  assert.deepEqual([...await client.request(Echo, new Uint8Array([5]))], [5]);
  assert.equal(server.sessions.length, 2);
  await client.close();
});

test("after a Goodbye the next requests use a new session, and the old one ends when its replies have come", async () => {
  const server = new LocalServer();
  const release = deferred();
  server.handlers.add(Echo, {
    kind: "unary", run: async (body, { session }) => {
      await (session === server.sessions[0] ? release.promise : undefined);
      return body;
    },
  });
  const ends: string[] = [];
  const client = new FastPortClient({ transport: server, onDisconnected: (_, { code, message }) => ends.push(`${code} ${message}`) });
  await client.connect();
  const old = client.request(Echo, new Uint8Array([1]));
  await until("the request has arrived", () => client.session !== undefined && server.last.isIdle === false);
  server.last.sendFrame({ type: MessageType.Goodbye, flags: 4, body: Goodbye.encode({ code: ErrorCode.ShuttingDown, reason: "restart" }) });
  await until("there is a new session", () => server.sessions.length === 2);
  assert.deepEqual([...await client.request(Echo, new Uint8Array([2]))], [2]);
  assert.deepEqual(ends, []);
  release.resolve();
  assert.deepEqual([...await old], [1]);
  await until("the old session has ended", () => ends.length === 1);
  assert.deepEqual(ends, ["10 restart"]);
  await client.close();
});

test("the token function is called at each attempt, and a refused token is not sent again", async () => {
  const server = new LocalServer({ welcome: false });
  const seen: string[] = [];
  server.handlers.add(MessageType.Hello, {
    kind: "unary",
    run: (body) => {
      const { token } = Hello.decode(body);
      seen.push(token);
      if (token === "old" && server.sessions.length > 1) {
        throw new FastPortError(ErrorCode.Unauthenticated, "Too old.");
      }

      return Welcome.encode({ sessionId: 1n });
    },
  });
  let token = "old";
  let asked = 0;
  const client = new FastPortClient({
    transport: server, reconnectDelay: 1, maxReconnectDelay: 2,
    token: () => {
      asked += 1;
      return token;
    },
  });
  await client.connect();
  server.last.abort("test");
  await until("the token was refused, and asked for again", () => seen.length === 2 && asked > 6);
  await assert.rejects(client.request(Echo), { failure: "not-connected", message: /refused the token: Too old/ });
  token = "new";
  await client.whenConnected({ timeout: 0 }).catch(() => until("connected", () => client.session !== undefined));
  assert.deepEqual(seen, ["old", "old", "new"]);
  await client.close();
});

test("a token does not cross the network unencrypted", () => {
  assert.throws(() => new FastPortClient({ transport: socket("tcp://192.0.2.1:6628"), token: "secret" }), RangeError);
  for (const endpoint of ["tcp://127.0.0.1", "tcp://[::1]:6628", "tls://192.0.2.1", "unix:///run/s.sock"]) {
    assert.doesNotThrow(() => new FastPortClient({ transport: socket(endpoint), token: "secret" }), endpoint);
  }
});

test("a number out of range is named, with its value", () => {
  const transport = socket("tcp://127.0.0.1:6628");
  const wrong: [object, RegExp][] = [
    [{ requestTimeout: "30" }, /^requestTimeout is '30' \(string\); it must be a number of 0 or more\.$/],
    [{ heartbeatInterval: NaN }, /^heartbeatInterval is 'NaN' \(number\)/],
    [{ closeTimeout: Infinity }, /^closeTimeout is 'Infinity' \(number\); it must be a number from 0 to 86400000\.$/],
    [{ reconnectDelay: 0 }, /^reconnectDelay is '0' \(number\); it must be a number from 1 to 86400000\.$/],
    [{ maxReconnectDelay: 1e12 }, /^maxReconnectDelay is '1000000000000'/],
    [{ maxFrameBytes: 100 }, /^maxFrameBytes is '100'/],
    [{ streamWindow: { messages: 0, bytes: 1 } }, /^streamWindow\.messages is '0'/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => new FastPortClient({ transport, ...options }), { name: "RangeError", message });
  }

  assert.doesNotThrow(() => new FastPortClient({ transport, requestTimeout: Infinity, heartbeatInterval: 0, closeTimeout: undefined }));
});

test("delays double up to the maximum, with jitter, and start over after a connection that lasted", () => {
  const random = new Random(1);
  const backoff = new Backoff(100, 1000, () => random.next());
  const bases = [0, 100, 200, 400, 800, 1000, 1000];
  for (const base of bases) {
    const delay = backoff.next();
    assert.ok(delay >= base * 0.75 && delay <= base * 1.25, `${delay} for ${base}`);
  }

  backoff.resetAfter(10);
  assert.ok(backoff.next() >= 750);
  backoff.resetAfter(1000);
  assert.equal(backoff.next(), 0);
});

test("streams that wait for room when the server says Goodbye go to the next session", async () => {
  const server = new LocalServer();
  server.handlers.add(Echo, { kind: "duplex", run: (requests) => requests });
  server.handlers.add(Echo + 1, { kind: "client-stream", run: async () => Uint8Array.of(server.sessions.length) });
  const room = deferred();
  const connect = server.connect.bind(server);
  server.connect = async (events) => {
    const connection = await connect(events);
    return server.sessions.length > 1 ? connection : Object.assign(connection, { bufferedBytes: 2 ** 20, drained: () => room.promise });
  };
  const client = new FastPortClient({ transport: server });
  await client.connect();
  const stream = client.stream(Echo, [Uint8Array.of(7)]).next();
  const sum = client.sendStream(Echo + 1, []);
  const { retired } = client.session as FrameSession;
  server.last.sendFrame({ type: MessageType.Goodbye, flags: 4, body: Goodbye.encode({}) });
  await retired;
  room.resolve();
  assert.deepEqual([...(await stream).value!], [7]);
  assert.deepEqual([...await sum], [2]);
  await client.close();
});
