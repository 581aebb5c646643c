import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, FastPortClient, FastPortError, type ClientOptions } from "fastport";
import { MessageType, Publication, Topic } from "../dist/messages/control.js";
import { deferred, until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";

const publication = (topic: string) => Publication.encode({ topic, type: 1 });

/** A server that remembers what it was asked for, and refuses where a test says so. */
function startServer() {
  const server = new LocalServer();
  const changes: string[] = [];
  const refusals: number[] = [];
  for (const [type, sign] of [[MessageType.Subscribe, "+"], [MessageType.Unsubscribe, "-"]] as const) {
    server.handlers.add(type, {
      kind: "unary",
      run: (body) => {
        changes.push(`${sign}${Topic.decode(body).prefix}`);
        const code = refusals.shift();
        if (code) {
          throw new FastPortError(code, "Not now.");
        }
      },
    });
  }

  const connect = async (options: Partial<ClientOptions> = {}) => {
    const client = new FastPortClient({ transport: server, reconnectDelay: 1, maxReconnectDelay: 2, ...options });
    await client.connect();
    return client;
  };
  return { server, changes, refusals, connect };
}

test("a slow reader misses the oldest messages, and is told how many", async () => {
  const { server, connect } = startServer();
  const client = await connect();
  const subscribed = deferred();
  const messages = client.routing.readTopic("t/", { capacity: 3, onSubscribed: () => subscribed.resolve() });
  const first = messages.next();
  await subscribed.promise;
  for (let i = 0; i < 10; i++) {
    await server.last.send(MessageType.Publish, publication(`t/${i}`));
  }

  await server.last.request(MessageType.Ping);
  const seen = [(await first).value!];
  for (let i = 0; i < 3; i++) {
    seen.push((await messages.next()).value!);
  }

  assert.deepEqual(seen.map(({ topic, dropped }) => [topic, dropped]), [["t/0", 0], ["t/7", 6], ["t/8", 0], ["t/9", 0]]);
  const last = messages.next();
  await client.close();
  assert.equal((await last).done, true);
});

test("a buffer for no message holds one", async () => {
  const { server, connect } = startServer();
  const client = await connect();
  const subscribed = deferred();
  const messages = client.routing.readTopic("t/", { capacity: 0, onSubscribed: () => subscribed.resolve() });
  const first = messages.next();
  await subscribed.promise;
  for (let i = 0; i < 4; i++) {
    await server.last.send(MessageType.Publish, publication(`t/${i}`));
  }

  await server.last.request(MessageType.Ping);
  assert.equal((await first).value!.topic, "t/0");
  assert.deepEqual((await messages.next()).value, { topic: "t/3", type: 1, body: new Uint8Array(0), from: "", dropped: 2 });
  await client.close();
});

test("a receiver that fails does not keep a message from the others", async () => {
  const failures: unknown[] = [];
  const { server, connect } = startServer();
  const client = await connect({ onHandlerError: (error) => failures.push(error) });
  const seen: string[] = [];
  await client.routing.subscribe("", () => {
    throw new Error("of the receiver");
  });
  await client.routing.subscribe("t", ({ topic }) => seen.push(topic));
  await server.last.send(MessageType.Publish, publication("t1"));
  await until("the failure is reported", () => failures.length === 1);
  assert.deepEqual(seen, ["t1"]);
  await client.close();
});

test("a prefix is subscribed once for all receivers, and ended with the last", async () => {
  const { changes, connect } = startServer();
  const client = await connect();
  const stops = [await client.routing.subscribe("a", () => {}), await client.routing.subscribe("a", () => {})];
  await stops[0]!();
  assert.deepEqual(changes.filter((change) => change.startsWith("-")), []);
  await stops[1]!();
  assert.equal(changes.at(-1), "-a");
  await client.close();
});

test("a refused subscription is not kept", async () => {
  const { server, changes, refusals, connect } = startServer();
  const client = await connect();
  refusals.push(ErrorCode.Forbidden);
  await assert.rejects(client.routing.subscribe("a", () => {}), { code: ErrorCode.Forbidden });
  server.last.abort("test");
  await client.whenConnected();
  await until("there is a second session", () => server.sessions.length === 2 && client.session !== undefined);
  assert.equal(changes.filter((change) => change === "+a").length, 1);
  await client.close();
});

test("what the server refuses for now after a reconnect, or an end that it refuses, is asked for again", async () => {
  const { server, changes, refusals, connect } = startServer();
  const client = await connect();
  const stop = await client.routing.subscribe("a", () => {});
  refusals.push(ErrorCode.Overloaded, ErrorCode.Overloaded);
  server.last.abort("test");
  await until("the third request is accepted", () => changes.length === 4);
  refusals.push(ErrorCode.Overloaded);
  await stop();
  assert.deepEqual(changes, ["+a", "+a", "+a", "+a", "-a", "-a"]);
  await client.close();
});

test("a loop of a client that gives up by itself throws", async () => {
  const { server, connect } = startServer();
  const client = await connect({ reconnect: false });
  const subscribed = deferred();
  const next = client.routing.readTopic("a", { onSubscribed: () => subscribed.resolve() }).next();
  await subscribed.promise;
  server.last.abort("test");
  await assert.rejects(next, { failure: "closed" });
  await client.close();
});
