import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ErrorCode, FastPortClient, FastPortError, type CallContext, type ClientOptions } from "fastport";
import { Flag } from "../dist/frames/frame.js";
import { MessageType } from "../dist/messages/control.js";
import { deferred, until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Random } from "./support/random.js";

const Type = 0x2000;

async function connect(server: LocalServer, options: Partial<ClientOptions> = {}, prepare?: (client: FastPortClient) => void) {
  const client = new FastPortClient({ transport: server, ...options });
  prepare?.(client);
  await client.connect();
  return client;
}

test("a server's requests: answered, refused as unknown, and failed without internals", async () => {
  const server = new LocalServer();
  const failures: unknown[] = [];
  const client = await connect(server, { onHandlerError: (error) => failures.push(error) }, (c) => {
    c.handle(Type, (body) => body.map((value) => value + 1));
    c.handle(Type + 1, () => {
      throw new Error("a secret");
    });
  });
  assert.deepEqual([...await server.last.request(Type, new Uint8Array([1, 2]))], [2, 3]);
  assert.deepEqual([...await server.last.request(MessageType.Ping)], []);
  await assert.rejects(server.last.request(Type + 2), { code: ErrorCode.UnknownType, message: "Message type 0x2002 is not known here." });
  await assert.rejects(server.last.request(Type + 1), { code: ErrorCode.Internal, message: "The handler failed." });
  assert.equal((failures[0] as Error).message, "a secret");
  assert.throws(() => client.handle(Type, () => {}), RangeError);
  await client.close();
});

test("a request that asks for timing gets it, and its time limit travels", async () => {
  const server = new LocalServer({ timing: true });
  const limits: (number | undefined)[] = [];
  const client = await connect(server, {}, (c) => c.handle(Type, (_, { timeLeft }) => void limits.push(timeLeft)));
  await server.last.request(Type, undefined, { timeout: 1234 });
  await server.last.request(Type, undefined, { timeout: 0 });
  assert.equal(server.settings.latencies.server.count, 2);
  assert.ok(limits[0]! > 1000 && limits[0]! <= 1234);
  assert.equal(limits[1], undefined);
  await client.close();
});

test("a canceled request aborts its handler's signal", async () => {
  const server = new LocalServer();
  const arrived = deferred<CallContext>();
  const client = await connect(server, {}, (c) => c.handle(Type, (_, context) => {
    arrived.resolve(context);
    return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(undefined)));
  }));
  const abort = new AbortController();
  const reply = server.last.request(Type, undefined, { signal: abort.signal });
  const { signal } = await arrived.promise;
  abort.abort();
  await assert.rejects(reply, { name: "AbortError" });
  await until("the handler is aborted", () => signal.aborted);
  await client.close();
});

test("calls in flight keep their replies: hundreds, answered in any order, while others are answered at once", async () => {
  const random = new Random(1);
  const server = new LocalServer();
  const held: (() => void)[] = [];
  server.handlers.add(Type, { kind: "unary", run: (body) => new Promise((resolve) => held.push(() => resolve(body))) });
  server.handlers.add(Type + 1, { kind: "unary", run: (body) => body });
  const client = await connect(server);
  const call = async (type: number) => {
    const body = random.bytes(random.of([0, 5, 60, 60, 300, 300, 300, 20_000]));
    assert.deepEqual(await client.request(type, body), body);
  };
  const late = Array.from({ length: 300 }, () => call(Type));
  for (let i = 0; i < 20; i++) {
    await Promise.all(Array.from({ length: 1 + random.below(60) }, () => call(Type + 1)));
  }

  assert.equal(held.length, late.length);
  while (held.length > 0) {
    held.splice(random.below(held.length), 1)[0]!();
  }

  await Promise.all(late);
  await client.close();
});

test("one-way messages of a server, in order, without an answer", async () => {
  const server = new LocalServer();
  const seen: number[] = [];
  const client = await connect(server, { onHandlerError: () => {} }, (c) => c.handle(Type, ([value], { isOneWay }) => {
    assert.ok(isOneWay);
    seen.push(value!);
    if (value === 2) {
      throw new Error("of the handler");
    }
  }));
  for (let i = 0; i < 5; i++) {
    await server.last.send(Type, new Uint8Array([i]));
  }

  await server.last.request(MessageType.Ping);
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
  await client.close();
});

test("a client with too many requests of its server in flight stops reading", async () => {
  const server = new LocalServer();
  const release = deferred();
  let running = 0;
  const client = await connect(server, { maxRequestsInFlight: 3, heartbeatInterval: 20 }, (c) => c.handle(Type, async () => {
    running += 1;
    await release.promise;
  }));
  const replies = [];
  for (let i = 0; i < 10; i++) {
    replies.push(server.last.request(Type));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  assert.equal(running, 3);
  release.resolve();
  await Promise.all(replies);
  assert.equal(running, 10);
  await client.close();
});

test("a server that breaks the format gets an error and is left", async () => {
  const server = new LocalServer();
  const client = await connect(server, { reconnect: false, maxFrameBytes: 1024 });
  const session = client.session!;
  const waiting = client.request(Type);
  server.handlers.add(Type, { kind: "unary", run: () => new Uint8Array(2000) });
  await assert.rejects(waiting, { failure: "connection-lost" });
  assert.equal((await session.closed).code, ErrorCode.FrameTooLarge);
  assert.equal((await server.last.closed).code, ErrorCode.FrameTooLarge);
  await client.close();
});

test("close waits for replies in flight, and not for longer than closeTimeout", async () => {
  const server = new LocalServer();
  const release = deferred();
  server.handlers.add(Type, { kind: "unary", run: () => release.promise.then(() => new Uint8Array([1])) });
  server.handlers.add(Type + 1, { kind: "unary", run: () => new Promise(() => {}) });
  const client = await connect(server, { closeTimeout: 100 });
  const [answered, never] = [client.request(Type), client.request(Type + 1).catch((e: unknown) => e)];
  await client.request(MessageType.Ping);
  const closed = client.close();
  release.resolve();
  assert.deepEqual([...await answered], [1]);
  await closed;
  assert.match(String(await never), /connection was lost/);
  await assert.rejects(client.connect(), { failure: "closed" });
});

test("an error that cannot be sent is the handler's failure, and one that is too large loses its message", async () => {
  const server = new LocalServer({ maxFrameBytes: 1024 });
  const failures: unknown[] = [];
  const client = await connect(server, { onHandlerError: (error) => failures.push(error) }, (c) => {
    c.handle(Type, () => {
      throw new FastPortError(-32_601, "Of another protocol.");
    });
    c.handle(Type + 1, () => {
      throw new FastPortError(77, "x".repeat(2000));
    });
  });
  await assert.rejects(server.last.request(Type), { code: ErrorCode.Internal });
  assert.match(String(failures[0]), /RangeError: .*not -32601: 'Of another protocol.'/);
  await assert.rejects(server.last.request(Type + 1), { code: 77, message: "" });
  await client.close();
});

test("a reply with impossible times is a reply", async () => {
  const server = new LocalServer();
  server.handlers.add(Type, {
    kind: "unary",
    run: () => {
      const timing = { received: 0n, sent: 2n ** 64n - 1n };
      server.last.sendFrame({ type: Type, correlation: 2, flags: Flag.Reply, timing, body: Uint8Array.of(5) });
      return new Promise(() => {});
    },
  });
  const client = await connect(server, { timing: true, closeTimeout: 1 });
  assert.deepEqual([...await client.request(Type)], [5]);
  assert.equal(client.latencies.server.max, Number.MAX_SAFE_INTEGER);
  await client.close();
});

test("nothing is left of a call that was given up while there was no connection, nor of a token that never came", async () => {
  const server = new LocalServer();
  server.connect = () => new Promise(() => {});
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  const client = new FastPortClient({ transport: server, connectTimeout: 0 });
  const connected = client.connect();
  const giveUp = async () => {
    const { signal } = new AbortController();
    await assert.rejects(client.request(Type, undefined, { timeout: 1, signal }), { failure: "timed-out" });
    return new WeakRef(signal);
  };
  const signal = await giveUp();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await until("the signal is collected", () => {
    collect();
    return signal.deref() === undefined;
  });
  const abort = new AbortController();
  const aborted = client.request(Type, undefined, { timeout: 60_000, signal: abort.signal });
  abort.abort();
  await assert.rejects(aborted, { name: "AbortError" });
  await client.close();
  await assert.rejects(connected, { failure: "closed" });

  const waiting = new FastPortClient({ transport: server, connectTimeout: 60_000, token: () => new Promise(() => {}) });
  const asked = waiting.connect();
  await waiting.close();
  await assert.rejects(asked, { failure: "closed" });
  assert.equal(timers(), before);
});

test("one signal ends many calls, and is no leak for Node.js", async () => {
  const server = new LocalServer();
  server.handlers.add(Type, { kind: "unary", run: () => new Promise(() => {}) });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const client = await connect(server, { closeTimeout: 1 });
  const abort = new AbortController();
  const { signal } = abort;
  const calls = Array.from({ length: 20 }, () => client.request(Type, undefined, { signal }));
  await client.request(MessageType.Ping);
  abort.abort();
  for (const call of calls) {
    await assert.rejects(call, { name: "AbortError" });
  }

  await client.close();
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("without heartbeats a silent server is not given up", async () => {
  const server = new LocalServer({ heartbeatMs: 1 });
  const client = await connect(server, { heartbeatInterval: 0 });
  const { session } = client;
  await new Promise((resolve) => setTimeout(resolve, 20));
  await client.request(MessageType.Ping);
  assert.equal(client.session, session);
  assert.equal(server.sessions.length, 1);
  await client.close();
});

test("a message type that is none is not sent as another one", async () => {
  const client = await connect(new LocalServer());
  for (const type of [65_536 + MessageType.Ping, -1, 1.5, NaN]) {
    await assert.rejects(client.request(type), { name: "RangeError", message: new RegExp(`not ${type}`) });
    await assert.rejects(client.send(type), RangeError);
    await assert.rejects(client.sendStream(type, []), RangeError);
  }

  await client.close();
});
