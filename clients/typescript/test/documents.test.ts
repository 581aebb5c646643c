import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ErrorCode, FastPortClient, FastPortError } from "fastport";
import { socket } from "fastport/node";
import { TagClient } from "fastport/tags";
import { spell } from "./documents/first.js";
import { answerCalls, chat, count, inNode20, patientSpeller, publishPress, useTags } from "./documents/snippets.js";
import { until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Program } from "./support/program.js";

const Root = "../../";

/** The blocks of TypeScript and Protocol Buffers of a document, with the sources that they name. */
function* blocks(document: string): Generator<[source: string, text: string]> {
  const pattern = /^(?:<!-- source: ([^\n]+) -->\n)?```(?:typescript|protobuf)\n(.*?)\n```$/gms;
  for (const [, source, text] of readFileSync(Root + document, "utf8").matchAll(pattern)) {
    assert.ok(source, `A block of ${document} names no source: ${text}`);
    yield [source, text!];
  }
}

function sourceOf(name: string): string {
  const [file, part] = name.split("#") as [string, string?];
  const text = readFileSync(Root + file, "utf8").trimEnd();
  return part ? text.split(`// docs: ${part}\n`)[1]!.split("\n// docs: end")[0]! : text;
}

test("the TypeScript of the documents is compiled code", () => {
  for (const document of ["docs/typescript.md", "clients/typescript/README.md"]) {
    const all = [...blocks(document)];
    assert.notEqual(all.length, 0);
    for (const [source, text] of all) {
      assert.equal(text, sourceOf(source), source);
    }
  }
});

test("the template of the documents is that of the tests", () => {
  const template = readFileSync("buf.gen.yaml", "utf8").split("plugins:\n")[1]!
    .replaceAll("test/generated", "src/generated").replace("[node, dist/plugin/main.js]", "protoc-gen-fastport");
  assert.ok(readFileSync(`${Root}docs/typescript.md`, "utf8").includes(template), template);
});

test("services: calls, failures and handlers", async () => {
  const server = new LocalServer();
  const client = new FastPortClient({ transport: server });
  answerCalls({ handleAs: (type, handler) => server.handlers.add(type, handler) } as FastPortClient);
  await client.connect();
  assert.equal(await count(client, ["a", "b", "c"]), "3 letters");
  assert.equal(await count(client, ["a", ""]), "6: A letter is empty. 1 letters until then");
  await assert.rejects(count(client, ["a"], AbortSignal.abort()), { name: "AbortError" });
  await client.close();
  await assert.rejects(count(client, []), { failure: "closed" });

  const busy = new LocalServer();
  let attempts = 0;
  answerCalls({ handleAs: (type, handler) => busy.handlers.add(type, handler.kind !== "client-stream" ? handler : {
    kind: handler.kind,
    run: async (requests, context) => {
      attempts += 1;
      if (attempts < 3) {
        throw new FastPortError(ErrorCode.Unavailable, "Not now.");
      }

      return handler.run(requests, context);
    },
  }) } as FastPortClient);
  const patient = new FastPortClient({ transport: busy });
  await patient.connect();
  assert.equal((await patientSpeller(patient).count([{ text: "a" }])).letters, 1);
  assert.equal(attempts, 3);
  await patient.close();
});

test("the first example, routing and tags", async () => {
  const [server, bridge] = await Promise.all([
    Program.server(),
    Program.start(
      "src/FastPort.OpcBridge", ["--listen", "tcp://127.0.0.1:0"],
      { OpcBridge__Listen: "opc.tcp://127.0.0.1:0", OpcBridge__AllowPublish: "true" }),
  ]);
  await assert.rejects(spell(server.endpoint, "abc"), /is not known here/);

  const bob = new FastPortClient({ transport: socket(server.endpoint), routingId: "bob" });
  const heard: string[] = [];
  bob.routing.onRelayed(1, ({ from, body }) => heard.push(`${from}: ${new TextDecoder().decode(body)}`));
  await bob.connect();
  const alice = new FastPortClient({ transport: socket(server.endpoint), routingId: "alice" });
  const shown: string[] = [];
  const chatting = chat(alice, (line) => shown.push(line));
  await until("alice has said hello", () => heard.length === 1);
  assert.deepEqual(heard, ["alice: hello"]);
  while (await bob.routing.publish("news/last", 1, new Uint8Array()) === 0);
  await chatting;
  assert.deepEqual(shown, ["news/last"]);
  await Promise.all([alice.close(), bob.close()]);

  const stop = new AbortController();
  const publishing = publishPress(bridge.endpoint, stop.signal);
  const reader = new FastPortClient({ transport: socket(bridge.endpoint) });
  const tags = new TagClient(reader);
  await reader.connect();
  while (((await tags.read("press/speed", { maxAge: 60_000 })).value ?? 0) as number < 1);
  stop.abort();
  await publishing;
  await reader.close();

  const lines: string[] = [];
  await useTags(bridge.endpoint, (line) => lines.push(line));
  assert.match(lines.join("\n"), /^-?\d+ true true\n0\nsimulation\/Int32\.0: number$/);
  assert.equal(inNode20("ws://127.0.0.1:1").endpoint, "ws://127.0.0.1:1/");
  await Promise.all([server.stop(), bridge.kill()]);
});
