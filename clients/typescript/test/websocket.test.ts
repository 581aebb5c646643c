import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { FastPortClient, webSocket } from "fastport";
import { WebSocket, WebSocketServer } from "ws";
import { Echo, echoOf, textOf } from "./support/echo.js";
import { until } from "./support/patience.js";
import { Program } from "./support/program.js";
import { Random } from "./support/random.js";
import { startBridge, urlOf } from "./support/websocket-bridge.js";

const options = { WebSocket };
const random = new Random(8);
let server: Program;
let bridge: WebSocketServer;
let url: string;

before(async () => {
  server = await Program.server();
  bridge = startBridge(new URL(server.endpoint), "fastport.v1");
  await once(bridge, "listening");
  url = `${urlOf(bridge)}/fastport`;
});
after(async () => {
  bridge.close();
  await server.stop();
});

test("requests over messages that are cut anywhere, and a Goodbye", async () => {
  const client = new FastPortClient({ transport: webSocket(url, options), timing: true });
  await client.connect();
  const texts = Array.from({ length: 500 }, (_, i) => `${i} ${"x".repeat(random.below(300))}`);
  assert.deepEqual(await Promise.all(texts.map(async (text) => textOf(await client.request(Echo, echoOf(text))))), texts);
  assert.equal((await client.request(Echo, echoOf(new Uint8Array(1_000_000)))).length, 1_000_004);
  await client.close();
  await until("the WebSocket is closed", () => bridge.clients.size === 0);
});

test("the server's own endpoint: requests, a wrong path, and a stop", async () => {
  const own = await Program.server(["--listen", "ws://127.0.0.1:0/game"]);
  let reconnect!: () => void;
  const lost = new Promise<void>((done) => (reconnect = done));
  const client = new FastPortClient({ transport: webSocket(own.endpoint, options), timing: true, onDisconnected: () => reconnect() });
  await client.connect();
  assert.equal((await client.request(Echo, echoOf(new Uint8Array(1_000_000)))).length, 1_000_004);
  await assert.rejects(new FastPortClient({ transport: webSocket(own.endpoint.replace("/game", "/other"), options) }).connect());
  await own.stop();
  await lost;
  await client.close();
});

test("a flood waits for the WebSocket's buffer", async () => {
  const client = new FastPortClient({ transport: webSocket(url, options), sendQueueBytes: 65_536 });
  await client.connect();
  await Promise.all(Array.from({ length: 500 }, () => client.send(0x0101, new Uint8Array(16_384))));
  const [, low, high] = await client.request(0x0102);
  assert.equal((low! & 0x7f) | (high! << 7), 500);
  await client.close();
});

test("a connection that is lost is made again", async () => {
  let sessions = 0;
  const client = new FastPortClient({ transport: webSocket(url, options), onConnected: () => sessions++ });
  await client.connect();
  bridge.clients.forEach((socket) => socket.terminate());
  await until("there is a second session", () => sessions === 2);
  assert.equal(textOf(await client.request(Echo, echoOf("again"))), "again");
  await client.close();
});

test("text, another sub-protocol, and nobody there", async () => {
  const text = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "fastport.v1" });
  text.on("connection", (socket) => socket.send("hello"));
  await once(text, "listening");
  await assert.rejects(new FastPortClient({ transport: webSocket(urlOf(text), options) }).connect(), /A text message came/);
  const nobody = urlOf(text);
  text.close();
  await assert.rejects(new FastPortClient({ transport: webSocket(nobody, options) }).connect(), /^Error: Cannot connect to ws:.*code 1006/);

  const other = startBridge(new URL(server.endpoint), false);
  await once(other, "listening");
  await assert.rejects(new FastPortClient({ transport: webSocket(urlOf(other), options) }).connect());
  other.close();
});

test("without a global WebSocket a constructor is demanded", { skip: "WebSocket" in globalThis }, () => {
  assert.throws(() => webSocket("ws://127.0.0.1"), TypeError);
});

test("a token does not go over ws:// to another machine", () => {
  assert.throws(() => new FastPortClient({ transport: webSocket("ws://192.0.2.1", options), token: "secret" }), RangeError);
  assert.doesNotThrow(() => new FastPortClient({ transport: webSocket("wss://192.0.2.1", options), token: "secret" }));
});

test("a URL of another kind is refused: some constructors would take http:// for ws://", () => {
  for (const url of ["http://192.0.2.1/game", "https://192.0.2.1/game", "tcp://192.0.2.1:6628", "/game", "192.0.2.1", ""]) {
    assert.throws(() => webSocket(url, options), { name: "RangeError", message: new RegExp(`^'${url}' is not a URL with ws://`) }, url);
  }
});
