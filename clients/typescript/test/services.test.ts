import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ErrorCode, FastPortClient, FastPortError, errorDetail, handleService, readErrorDetail, serviceClient, type ClientInterceptor,
} from "fastport";
import { socket } from "fastport/node";
import { Calls } from "./generated/calls_fastport.js";
import { Speller } from "./generated/spelling_fastport.js";
import { TotalSchema, WordSchema } from "./generated/spelling_pb.js";
import { until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Program } from "./support/program.js";

const text = (payload: Uint8Array) => new TextDecoder().decode(payload);
const message = (payload: string) => ({ payload: new TextEncoder().encode(payload) });

let peer: Program;
let client: FastPortClient;
before(async () => {
  peer = await Program.start("benchmarks/ServicePeer", ["serve", "fastport"]);
  client = new FastPortClient({ transport: socket(peer.endpoint), streamWindow: { messages: 16, bytes: 4096 } });
  await client.connect();
});
after(async () => {
  await client.close();
  await peer.kill();
});

test("a call of a .NET service", async () => {
  const calls = serviceClient(client, Calls);
  assert.equal(text((await calls.echo(message("hello"))).payload), "hello");
  assert.equal(text((await calls.echoQueued(message("queued"), { timeout: 5000 })).payload), "queued");
});

test("streams both ways with a .NET service, beyond all windows", async () => {
  const calls = serviceClient(client, Calls);
  const requests = async function* () {
    for (let i = 0; i < 5000; i++) {
      yield message(`${i} ${"x".repeat(i % 200)}`);
    }
  };
  let next = 0;
  for await (const { payload } of calls.exchange(requests())) {
    assert.equal(parseInt(text(payload)), next++);
  }

  assert.equal(next, 5000);
});

test("an endless stream of a .NET service, left by break, leaves the session usable", async () => {
  const calls = serviceClient(client, Calls);
  for (let round = 0; round < 200; round++) {
    let left = 20;
    for await (const { payload } of calls.watch(message("tick"))) {
      assert.equal(text(payload), "tick");
      if (--left === 0) {
        break;
      }
    }
  }

  assert.equal(text((await calls.echo(message("after"))).payload), "after");
});

test("methods of a client that its server calls", async () => {
  const server = new LocalServer();
  const player = new FastPortClient({ transport: server, onHandlerError: () => {} });
  handleService(player, Speller, {
    async *spell({ text }) {
      for (const letter of text) {
        yield { text: letter };
      }
    },
    async count(letters) {
      let total = 0;
      for await (const { text } of letters) {
        if (text === "") {
          throw new FastPortError(ErrorCode.Forbidden, "No empty letters.", errorDetail(TotalSchema, { letters: total }));
        }

        total += 1;
      }

      return { letters: total };
    },
  });
  await player.connect();
  const speller = serviceClient(server.last, Speller);
  const letters: string[] = [];
  for await (const { text } of speller.spell({ text: "abc" })) {
    letters.push(text);
  }

  assert.deepEqual(letters, ["a", "b", "c"]);
  assert.equal((await speller.count(letters.map((text) => ({ text })))).letters, 3);
  const failure = await speller.count([{ text: "a" }, { text: "" }]).catch((e: unknown) => e);
  assert.equal((failure as FastPortError).code, ErrorCode.Forbidden);
  assert.equal(readErrorDetail(failure, TotalSchema)?.letters, 1);
  assert.equal(readErrorDetail(failure, WordSchema), undefined);
  await assert.rejects(
    server.last.stream(Speller.methods.spell.type, new Uint8Array([0xff])).next(), { code: ErrorCode.MalformedBody });
  await player.close();
  await until("the server's session has ended", () => server.sessions.length === 1);
});

test("contracts without numbers, with one out of range, or one twice, are refused", () => {
  const cases: [options: string, method: string, message: RegExp][] = [
    ["", "", /a\.S\/M has no message type/],
    ["option (fastport.first_type) = 1;", "", /message type 0x0001; choose one from 0x1000 to 0xFFFF/],
    ["option (fastport.first_type) = 0x1000;", "{ option (fastport.type) = 0x1001; }", /a\.S\/N and a\.S\/M both have message type 0x1001/],
  ];
  for (const [options, method, expected] of cases) {
    const folder = mkdtempSync(join(tmpdir(), "fastport-ts-"));
    writeFileSync(join(folder, "buf.yaml"), "version: v2\n");
    execFileSync("cp", ["-r", "proto/fastport", folder]);
    writeFileSync(join(folder, "a.proto"), `syntax = "proto3"; package a; import "fastport/options.proto"; message E {}
      service S { ${options} rpc M(E) returns (E) ${method || ";"} rpc N(E) returns (E); }`);
    const template = { version: "v2", plugins: [{ local: ["node", "dist/plugin/main.js"], out: folder }] };
    const { stderr, status } = spawnSync(
      "npx", ["buf", "generate", folder, "--template", JSON.stringify(template)], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    assert.notEqual(status, 0);
    assert.match(stderr, expected);
  }
});

test("interceptors run around calls and streams, the first one outermost, and may change, repeat or refuse them", async () => {
  const log: string[] = [];
  const logger = (name: string): ClientInterceptor => ({
    call: async (call, next) => {
      log.push(`${name} ${call.method}`);
      const reply = await next(call);
      log.push(`${name} done`);
      return reply;
    },
    stream: async function* (call, next) {
      log.push(`${name} ${call.method}`);
      try {
        yield* next(call);
      } finally {
        log.push(`${name} done`);
      }
    },
  });
  const calls = serviceClient(client, Calls, [logger("a"), {}, logger("b")]);
  assert.equal(text((await calls.echo(message("hello"))).payload), "hello");
  assert.deepEqual(log.splice(0), ["a calls.Calls/Echo", "b calls.Calls/Echo", "b done", "a done"]);
  for await (const { payload } of calls.watch(message("tick"))) {
    assert.equal(text(payload), "tick");
    break;
  }

  assert.deepEqual(log.splice(0), ["a calls.Calls/Watch", "b calls.Calls/Watch", "b done", "a done"]);
  const exchanged = [];
  for await (const { payload } of calls.exchange([message("1"), message("2")])) {
    exchanged.push(text(payload));
  }

  assert.deepEqual([exchanged, log.length], [["1", "2"], 4]);

  let attempts = 0;
  const retries: ClientInterceptor = {
    call: async (call, next) => {
      for (;;) {
        try {
          return await next(call);
        } catch (e) {
          if (!(e instanceof FastPortError && e.code === ErrorCode.Unavailable && attempts < 3)) {
            throw e;
          }
        }
      }
    },
  };
  const unavailable: ClientInterceptor = {
    call: (call, next) => {
      attempts += 1;
      return attempts < 3
        ? Promise.reject(new FastPortError(ErrorCode.Unavailable, "Not now."))
        : next({ ...call, request: { ...call.request, payload: new TextEncoder().encode("changed") } });
    },
  };
  assert.equal(text((await serviceClient(client, Calls, [retries, unavailable]).echo(message("x"))).payload), "changed");
  assert.equal(attempts, 3);
  const refusing: ClientInterceptor = {
    call: () => {
      throw new FastPortError(ErrorCode.Forbidden, "Not you.");
    },
  };
  await assert.rejects(serviceClient(client, Calls, [refusing]).echo(message("x")), { code: ErrorCode.Forbidden });
  const hasty: ClientInterceptor = { call: (call, next) => next({ ...call, options: { ...call.options, signal: AbortSignal.abort() } }) };
  await assert.rejects(serviceClient(client, Calls, [hasty]).echo(message("x")), { name: "AbortError" });
});
