import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { FastPortClient } from "fastport";
import { socket } from "fastport/node";
import { Echo, echoOf } from "./support/echo.js";
import { until } from "./support/patience.js";
import { LocalServer } from "./support/pair.js";
import { Program } from "./support/program.js";

const Traces = ["0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"];
const Span = "b7ad6b7169203331";
const contextOf = (trace: string) => `00-${trace}-${Span}-01`;

test("the server's spans are children of the client's: a collector gets them", async () => {
  let received = Buffer.alloc(0);
  const collector = createServer(async (request, response) => {
    received = Buffer.concat([received, await buffer(request)]);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const server = await Program.server([], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf", OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "none",
    OTEL_BSP_SCHEDULE_DELAY: "50",
  });
  let current: string | undefined = contextOf(Traces[0]!);
  const client = new FastPortClient({ transport: socket(server.endpoint), traceparent: () => current });
  await client.connect();
  await client.request(Echo, echoOf("traced"));
  current = undefined;
  await client.send(0x0101, new Uint8Array(4), { traceparent: contextOf(Traces[1]!) });
  await client.request(Echo, echoOf("of no trace"));
  for (const id of [...Traces, Span]) {
    await until(`the collector has ${id}`, () => received.includes(Buffer.from(id, "hex")));
  }

  await client.close();
  await server.stop();
  collector.close();
  collector.closeAllConnections();
});

test("each kind of call carries its trace, in either direction, and the client's own messages carry none", async () => {
  const server = new LocalServer({ extensions: 0x0b });
  const seen: [type: number, traceparent: string | undefined][] = [];
  const note = (type: number, traceparent: string | undefined) => void seen.push([type, traceparent]);
  server.handlers.add(0x2000, { kind: "unary", run: (_, { type, traceparent }) => note(type, traceparent) });
  server.handlers.add(0x2001, {
    kind: "server-stream",
    run: async function* (_, { type, traceparent }) {
      note(type, traceparent);
    },
  });
  server.handlers.add(0x2002, {
    kind: "client-stream",
    run: async (requests, { type, traceparent }) => {
      note(type, traceparent);
      for await (const _ of requests);
      return new Uint8Array();
    },
  });
  server.handlers.add(0x0006, { kind: "unary", run: (_, { type, traceparent }) => note(type, traceparent) });
  const trace = contextOf(Traces[0]!);
  let asked = 0;
  const client = new FastPortClient({
    transport: server, traceparent: () => {
      asked += 1;
      return trace;
    },
  });
  client.handle(0x3000, (_, { type, traceparent }) => note(type, traceparent));
  await client.connect();
  await client.request(0x2000);
  await client.send(0x2000);
  for await (const _ of client.stream(0x2001, new Uint8Array()));
  await client.sendStream(0x2002, [new Uint8Array(1)]);
  await client.request(0x2000, new Uint8Array(), { traceparent: "" });
  await client.request(0x0006);
  await server.last.request(0x3000, new Uint8Array(), { traceparent: trace });
  assert.deepEqual(seen, [
    [0x2000, trace], [0x2000, trace], [0x2001, trace], [0x2002, trace], [0x2000, undefined], [0x0006, undefined], [0x3000, trace],
  ]);
  assert.equal(asked, 5);
  await client.close();
});

test("a server that does not know traces gets none", async () => {
  const server = new LocalServer();
  server.handlers.add(0x2000, { kind: "unary", run: (_, { traceparent }) => new TextEncoder().encode(`${traceparent}`) });
  const client = new FastPortClient({ transport: server, traceparent: () => contextOf(Traces[0]!) });
  await client.connect();
  assert.equal(new TextDecoder().decode(await client.request(0x2000)), "undefined");
  await client.close();
});
