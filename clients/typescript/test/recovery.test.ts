import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  ErrorCode, FastPortClient, FastPortError, serviceClient, webSocket, type ClientOptions, type SessionEnd,
} from "fastport";
import { socket } from "fastport/node";
import { TagClient, TagStatus } from "fastport/tags";
import { WebSocket } from "ws";
import { Heartbeat } from "../dist/session/heartbeat.js";
import { Calls } from "./generated/calls_fastport.js";
import { Echo, echoOf, textOf } from "./support/echo.js";
import { deferred, until } from "./support/patience.js";
import { Program } from "./support/program.js";
import { Relay } from "./support/relay.js";
import { TokenService } from "./support/token.js";

const Local = "ws://127.0.0.1:0/game";

/** A client that notes the ends of its sessions. */
async function connect(url: string, options: Partial<ClientOptions> = {}) {
  const ends: SessionEnd[] = [];
  const client = new FastPortClient({
    transport: webSocket(url, { WebSocket }), reconnectDelay: 20, onDisconnected: (_, end) => ends.push(end), ...options,
  });
  await client.connect();
  return { client, ends };
}

test("a token that expires: the client is told, asks for another and is back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fastport-ts-"));
  const service = new TokenService();
  writeFileSync(join(folder, "keys.pem"), service.publicKey);
  const server = await Program.server(["--listen", Local], { Security__TokenKeysFile: join(folder, "keys.pem") });
  const failures: unknown[] = [];
  let asked = 0;
  const { client, ends } = await connect(server.endpoint, {
    token: async () => service.issue("ana", new Date(Date.now() + (asked++ === 0 ? 2000 : 60_000))),
    onConnectFailed: (e) => failures.push(e),
  });
  assert.equal(textOf(await client.request(Echo, echoOf("before"))), "before");
  await until("the session has ended", () => ends.length === 1);
  assert.equal(ends[0]!.code, ErrorCode.Unauthenticated);
  assert.equal(textOf(await client.request(Echo, echoOf("after"))), "after");
  assert.deepEqual([asked, failures], [2, []]);
  await client.close();

  // A text cannot be replaced: the client says why it is gone.
  const fixed = await connect(server.endpoint, { token: service.issue("bob", new Date(Date.now() + 1500)) });
  await until("the session has ended", () => fixed.ends.length === 1);
  await assert.rejects(fixed.client.request(Echo), { failure: "closed", message: /not connected: .*expired/ });
  await fixed.client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

test("a server that is killed and started again: every request has a result, topics and watched tags are back", async () => {
  const start = (endpoint: string) => Program.start("src/FastPort.OpcBridge", ["--listen", endpoint], {
    OpcBridge__Listen: "opc.tcp://127.0.0.1:0", FastPort__Routing__Topics: "true",
  });
  let server = await start(Local);
  const { endpoint } = server;
  const { client, ends } = await connect(endpoint, { routingId: "page" });
  const tags = new TagClient(client);
  const topics: string[] = [];
  await client.routing.subscribe("news/", ({ topic }) => topics.push(topic));
  const reading = (async () => {
    for await (const { topic } of client.routing.readTopic("news/")) {
      return topic;
    }
  })();
  const statuses: number[] = [];
  const watching = new AbortController();
  const watch = (async () => {
    for await (const { sample } of tags.watch(["simulation/Int32.0"], { interval: 20, signal: watching.signal })) {
      statuses.push(sample.status);
    }
  })();
  await until("the tag is watched", () => statuses.includes(TagStatus.Good));
  let [answered, lost, isDone] = [0, 0, false];
  const load = Promise.all(Array.from({ length: 8 }, async (_, i) => {
    while (!isDone) {
      try {
        assert.equal(await tags.write(`simulation/Double.${i}`, i), TagStatus.Good);
        answered += 1;
      } catch (e) {
        assert.equal((e as FastPortError).failure, "connection-lost");
        lost += 1;
      }
    }
  }));
  await until("tags are written", () => answered > 100);

  server.freeze(true);
  void server.kill();
  await until("the session has ended", () => ends.length === 1);
  const before = answered;
  await until("the watched tag is lost", () => statuses.at(-1) === TagStatus.BadNoCommunication);
  server = await start(endpoint);
  await until("tags are written again", () => answered > before + 100);
  isDone = true;
  await load;
  assert.ok(lost > 0 && lost <= 8, `${lost} of 8 writes in flight were lost`);
  await until("the watched tag is back", () => statuses.at(-1) === TagStatus.Good);
  assert.equal(await client.routing.publish("news/again", 1, new Uint8Array()), 1);
  await until("the publication has come", () => topics.length === 1);
  assert.equal(await reading, "news/again");
  watching.abort(new Error("enough"));
  await assert.rejects(watch, /enough/);
  await client.close();
  await server.kill();
});

test("streams in flight end with an error when the server is gone, and the next ones reach the next server", async () => {
  let peer = await Program.start("benchmarks/ServicePeer", ["serve", "fastport"]);
  const relay = await Relay.start(peer.endpoint);
  const client = new FastPortClient({ transport: socket(relay.url), reconnectDelay: 20 });
  await client.connect();
  const calls = serviceClient(client, Calls);
  const message = { payload: new Uint8Array([7]) };
  const watched = calls.watch(message)[Symbol.asyncIterator]();
  await watched.next();
  const release = deferred();
  const requests = async function* () {
    yield message;
    await release.promise;
  };
  const exchanged = calls.exchange(requests())[Symbol.asyncIterator]();
  await exchanged.next();

  await peer.kill();
  const isLost = { failure: "connection-lost" };
  await assert.rejects(async () => {
    while (!(await watched.next()).done);
  }, isLost);
  await assert.rejects(exchanged.next(), isLost);
  release.resolve();
  peer = await Program.start("benchmarks/ServicePeer", ["serve", "fastport"]);
  relay.target = new URL(peer.endpoint);
  for await (const { payload } of calls.watch(message)) {
    assert.deepEqual([...payload], [7]);
    break;
  }

  await client.close();
  relay.close();
  await peer.kill();
});

test("a proxy that cuts idle connections: heartbeats below its time keep the session, others bring the client back", async () => {
  const server = await Program.server(["--listen", Local]);
  const relay = await Relay.start(server.endpoint, 400);
  const kept = await connect(relay.url, { heartbeatInterval: 100 });
  const cut = await connect(relay.url);
  let sessions = 0;
  const heard: string[] = [];
  const listener = await connect(relay.url, { onConnected: () => sessions++ });
  await listener.client.routing.subscribe("news/", ({ topic }) => heard.push(topic));
  await until("the idle sessions were cut, and the listener is back", () => cut.ends.length > 1 && sessions > 2);
  assert.deepEqual(kept.ends, []);
  assert.match(cut.ends[0]!.message, /The connection was lost: The WebSocket was closed with code 1006/);
  assert.equal(textOf(await cut.client.request(Echo, echoOf("back"))), "back");
  while (await kept.client.routing.publish("news/", 1, new Uint8Array()) === 0);
  await until("the publication has come", () => heard.length !== 0);
  await Promise.all([kept, cut, listener].map(({ client }) => client.close()));
  relay.close();
  await server.stop();
});

test("a network that forgets the connection: it is given up after two heartbeats, and made again", async () => {
  const server = await Program.server(["--listen", Local]);
  const relay = await Relay.start(server.endpoint);
  const { client, ends } = await connect(relay.url, { heartbeatInterval: 100, connectTimeout: 200 });
  relay.silence(true);
  const inFlight = client.request(Echo, echoOf("in flight"));
  await assert.rejects(inFlight, { failure: "connection-lost", message: /silent for 200 ms/ });
  assert.equal(ends.length, 1);
  const waiting = client.request(Echo, echoOf("waits"));
  relay.silence(false);
  assert.equal(textOf(await waiting), "waits");
  await client.close();
  relay.close();
  await server.stop();
});

/** Moves the clock on, as where the process did not run. */
class Clock {
  readonly #now = performance.now;
  #ahead = 0;

  constructor() {
    performance.now = () => this.#now.call(performance) + this.#ahead;
  }

  leap(time: number): void {
    this.#ahead += time;
  }

  restore(): void {
    performance.now = this.#now;
  }
}

test("a server is asked once more where this side did not run, and then given up", async () => {
  const clock = new Clock();
  let [asked, isGivenUp] = [0, false];
  const heartbeat = new Heartbeat(50, () => asked++, () => (isGivenUp = true));
  await until("the server was asked", () => asked === 1);
  clock.leap(60_000);
  await until("it was asked again", () => asked === 2);
  assert.equal(isGivenUp, false);
  heartbeat.onSign();
  await until("it was asked after another interval", () => asked === 3);
  clock.leap(60_000);
  await until("it was asked again", () => asked === 4);
  clock.leap(60_000);
  await until("a server that stays silent is given up", () => isGivenUp);
  assert.equal(asked, 4);
  heartbeat.stop();
  clock.restore();
});
