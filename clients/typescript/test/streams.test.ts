import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, FastPortClient, FastPortError, type CallContext, type ClientOptions } from "fastport";
import { Credit, CreditOf, MessageType } from "../dist/messages/control.js";
import { deferred, until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Random } from "./support/random.js";

const Type = 0x2000;
const item = (...values: number[]) => Uint8Array.from(values);
const opened = (correlation: number, window = { messages: 9, bytes: 999 }) =>
  ({ type: MessageType.Credit, flags: 4, body: Credit.encode({ correlation, ...window, of: CreditOf.Opening }) });

async function connect(server: LocalServer, options: Partial<ClientOptions> = {}): Promise<FastPortClient> {
  const client = new FastPortClient({ transport: server, ...options });
  await client.connect();
  return client;
}

async function* count(end: number): AsyncGenerator<Uint8Array, void> {
  for (let i = 0; i < end; i++) {
    yield item(i & 0xff, i >> 8);
  }
}

test("a stream of replies, in order, through a small window", async () => {
  const server = new LocalServer({ piece: 7 });
  server.handlers.add(Type, { kind: "server-stream", run: () => count(1000) });
  const client = await connect(server, { streamWindow: { messages: 3, bytes: 1000 } });
  const seen: number[] = [];
  for await (const [low, high] of client.stream(Type, item())) {
    seen.push(low! | (high! << 8));
  }

  assert.deepEqual(seen, Array.from({ length: 1000 }, (_, i) => i));
  await client.close();
});

test("a stream of requests with one reply", async () => {
  const server = new LocalServer({ window: { messages: 2, bytes: 10 } });
  server.handlers.add(Type, {
    kind: "client-stream",
    run: async (requests) => {
      let sum = 0;
      for await (const [value] of requests) {
        sum += value!;
      }

      return item(sum);
    },
  });
  const client = await connect(server);
  assert.deepEqual([...await client.sendStream(Type, [item(1), item(2), item(3), item(4)])], [10]);
  assert.deepEqual([...await client.sendStream(Type, [])], [0]);
  await client.close();
});

test("streams both ways, with random windows and items", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = new Random(seed);
    const window = () => ({ messages: 1 + random.below(8), bytes: 1 + random.below(200) });
    const server = new LocalServer({ window: window(), piece: 1 + random.below(300) });
    server.handlers.add(Type, { kind: "duplex", run: (requests) => requests });
    const client = await connect(server, { streamWindow: window() });
    const items = Array.from({ length: random.below(60) }, () => random.bytes(random.below(90)));
    const seen: Uint8Array[] = [];
    for await (const reply of client.stream(Type, items)) {
      seen.push(reply.slice());
    }

    assert.deepEqual(seen, items, `seed ${seed}`);
    await client.close();
  }
});

test("the sender stops when the reader does", async () => {
  const server = new LocalServer();
  let produced = 0;
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* () {
      for (;;) {
        produced += 1;
        yield item(produced & 0xff);
      }
    },
  });
  const client = await connect(server, { streamWindow: { messages: 8, bytes: 1000 } });
  const replies = client.stream(Type, item());
  for (let i = 0; i < 3; i++) {
    await replies.next();
  }

  await client.request(MessageType.Ping);
  await client.request(MessageType.Ping);
  assert.ok(produced <= 3 + 8 + 4 + 1, `${produced} were produced for 3 that were read`);
  await replies.return();
  await client.close();
});

test("leaving the loop by break or by an exception cancels the call once", async () => {
  const server = new LocalServer();
  const contexts: CallContext[] = [];
  let finished = 0;
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* (_, context) {
      contexts.push(context);
      try {
        yield* count(1e9);
      } finally {
        finished += 1;
      }
    },
  });
  const client = await connect(server);
  for await (const _ of client.stream(Type, item())) {
    break;
  }

  await assert.rejects(async () => {
    for await (const _ of client.stream(Type, item())) {
      throw new Error("of the reader");
    }
  }, /of the reader/);
  await until("both handlers have ended", () => finished === 2);
  assert.deepEqual(contexts.map(({ signal }) => signal.aborted), [true, true]);
  await client.close();
});

test("an aborted stream ends with the reason, also while it waits", async () => {
  const server = new LocalServer();
  const ended = deferred();
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* (_, { signal }) {
      signal.addEventListener("abort", () => ended.resolve());
      yield item(1);
      await new Promise(() => {});
    },
  });
  const client = await connect(server);
  const abort = new AbortController();
  const replies = client.stream(Type, item(), { signal: abort.signal });
  await replies.next();
  const waiting = replies.next();
  abort.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await ended.promise;
  assert.equal((await replies.next()).done, true);
  await client.close();
});

test("an error follows the items before it", async () => {
  const server = new LocalServer();
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* () {
      yield item(1);
      throw new FastPortError(ErrorCode.NotFound, "There is no second.", { typeUrl: "type.googleapis.com/a.B", value: item(9) });
    },
  });
  const client = await connect(server);
  const replies = client.stream(Type, item());
  assert.deepEqual([...(await replies.next()).value!], [1]);
  await assert.rejects(replies.next(), {
    code: ErrorCode.NotFound, message: "There is no second.", detail: { typeUrl: "type.googleapis.com/a.B", value: item(9) },
  });
  await client.close();
});

test("an exception of the requests cancels the call", async () => {
  const server = new LocalServer();
  const ended = deferred();
  server.handlers.add(Type, {
    kind: "client-stream",
    run: async (requests, { signal }) => {
      signal.addEventListener("abort", () => ended.resolve());
      for await (const _ of requests);
      return item();
    },
  });
  const client = await connect(server);
  await assert.rejects(client.sendStream(Type, (async function* () {
    yield item(1);
    throw new Error("of the requests");
  })()), /of the requests/);
  await ended.promise;
  await client.close();
});

test("time limits: to the first reply, and of the whole call, which travels", async () => {
  const server = new LocalServer();
  const limits: (number | undefined)[] = [];
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* (_, { timeLeft }) {
      limits.push(timeLeft);
      if (timeLeft !== undefined) {
        yield item(1);
      }

      await new Promise(() => {});
    },
  });
  const client = await connect(server);
  await assert.rejects(client.stream(Type, item(), { timeout: 30 }).next(), { failure: "timed-out" });
  const replies = client.stream(Type, item(), { timeout: 5000, wholeTimeout: 50 });
  await replies.next();
  await assert.rejects(replies.next(), { failure: "timed-out", message: "The call did not end in 50 ms." });
  assert.deepEqual(limits, [undefined, 50]);
  await client.close();
});

test("a lost connection ends streams, which are not resumed", async () => {
  const server = new LocalServer();
  server.handlers.add(Type, {
    kind: "server-stream",
    run: async function* () {
      yield item(1);
      await new Promise(() => {});
    },
  });
  const client = await connect(server);
  const replies = client.stream(Type, item());
  await replies.next();
  server.last.abort("test");
  await assert.rejects(replies.next(), { failure: "connection-lost" });
  await client.close();
});

test("a server without the extension gets no stream", async () => {
  const client = await connect(new LocalServer({ extensions: 0 }));
  await assert.rejects(client.stream(Type, item()).next(), { failure: "not-supported" });
  await client.close();
});

// The server's session breaks the rules; what the client answers is seen in its calls.
test("violations end the stream, and the session lives", async () => {
  const server = new LocalServer();
  server.handlers.add(Type, { kind: "duplex", run: (requests) => requests });
  server.handlers.add(Type + 1, { kind: "unary", run: (body) => body });
  const client = await connect(server);
  const peer = client.session as unknown as { sendFrame(frame: object): void };
  const errors: FastPortError[] = [];
  const cases: [code: number, frames: object[]][] = [
    [ErrorCode.MalformedBody, [{ type: Type }]],
    [ErrorCode.MalformedBody, [opened(0), { type: Type + 1 }]],
    [ErrorCode.MalformedBody, [opened(0), { type: Type, flags: 0x20, body: item(1) }]],
    [ErrorCode.MalformedBody, [opened(0), { type: Type }]],
    [ErrorCode.MalformedBody, [opened(0), { type: Type, flags: 0x20 }, { type: Type, body: item(1) }]],
    [ErrorCode.MalformedBody, [opened(0), { type: Type, flags: 0x20 }, opened(0), { type: Type, flags: 0x20 }]],
    [ErrorCode.MalformedBody, [opened(0, { messages: 2 ** 31, bytes: 1 }), { type: Type, flags: 0x20 }]],
    [ErrorCode.Overloaded, [
      opened(0), { type: Type, flags: 0x20 }, ...Array.from({ length: 300 }, () => ({ type: Type, flags: 0x20, body: item(1) })),
    ]],
  ];
  for (const [code, frames] of cases) {
    // A request of the client's own fixes the correlation under which the frames are sent.
    const call = sendRaw(client, frames, peer);
    await assert.rejects(call, (e: FastPortError) => errors.push(e) > 0 && e.code === code, JSON.stringify(frames[1] ?? frames[0]));
  }

  assert.equal(errors.length, cases.length);
  assert.deepEqual([...await client.request(Type + 1, item(5))], [5]);
  await client.close();
});

/** Sends frames with the correlation of a call that the client knows, so that it gets the error. */
function sendRaw(client: FastPortClient, frames: object[], peer: { sendFrame(frame: object): void }): Promise<unknown> {
  const send = peer.sendFrame;
  const type = (frames.find((frame) => (frame as { type: number }).type !== MessageType.Credit) as { type: number }).type;
  peer.sendFrame = function (first: { correlation: number }) {
    peer.sendFrame = send;
    for (const frame of frames as { type: number; body?: Uint8Array }[]) {
      const isCredit = frame.type === MessageType.Credit;
      const body = isCredit ? Credit.encode({ ...Credit.decode(frame.body!), correlation: first.correlation }) : frame.body;
      send.call(peer, { ...frame, ...(body && { body }), ...(isCredit ? {} : { correlation: first.correlation }) });
    }
  };
  return client.request(type);
}

test("a server that violates the rules ends the stream by Cancel, with the code", async () => {
  const correlation = 2; // Hello was 1.
  const cases: [what: string, code: number, kind: "server-stream" | "client-stream" | "unary", frames: object[]][] = [
    ["items without credit", ErrorCode.Overloaded, "server-stream", Array.from({ length: 5 }, () => ({ flags: 0x21, body: item(1) }))],
    ["an end with a body", ErrorCode.MalformedBody, "server-stream", [{ flags: 0x01, body: item(1) }]],
    ["an item for one reply", ErrorCode.Overloaded, "client-stream", [{ flags: 0x21, body: item(1) }]],
    ["an item for a request", ErrorCode.MalformedBody, "unary", [{ flags: 0x21, body: item(1) }]],
    ["a grant above the limit", ErrorCode.MalformedBody, "client-stream", [{
      type: MessageType.Credit, flags: 4, correlation: 0,
      body: Credit.encode({ correlation, messages: 2 ** 31, bytes: 1, of: CreditOf.RequestItems }),
    }]],
  ];
  for (const [what, code, kind, frames] of cases) {
    const server = new LocalServer();
    const canceled = deferred();
    const answer = (context: CallContext) => {
      context.signal.addEventListener("abort", () => canceled.resolve());
      frames.forEach((frame) => server.last.sendFrame({ type: Type, correlation, ...frame }));
      return new Promise<Uint8Array>(() => {});
    };
    server.handlers.add(Type, kind === "server-stream"
      ? { kind, run: async function* (_, context) { yield await answer(context); } }
      : kind === "unary" ? { kind, run: (_, context) => answer(context) } : { kind, run: (_, context) => answer(context) });
    const client = await connect(server, { streamWindow: { messages: 2, bytes: 100 } });
    const call = kind === "unary" ? client.request(Type)
      : kind === "client-stream" ? client.sendStream(Type, (async function* () { await canceled.promise; yield item(1); })())
      : collect(client.stream(Type, item()));
    await assert.rejects(call, { code, failure: undefined }, what);
    if (what !== "an end with a body") {
      await canceled.promise;
    }

    await client.close();
  }
});

async function collect(items: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all = [];
  for await (const one of items) {
    all.push(one);
  }

  return all;
}
