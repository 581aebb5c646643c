// The clients: each connects and returns a function that makes a call, with a text or with bytes, and one that ends the connection.
import { create, createFileRegistry, toBinary } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { io } from "socket.io-client";
import WebSocket from "ws";
import { FastPortClient, serviceClient, webSocket } from "../../clients/typescript/dist/index.js";
import { socket } from "../../clients/typescript/dist/node/index.js";

export const clients = {
  fastport: { isBytes: true, connect: connectService },
  "fastport-bytes": { isBytes: true, connect: connectBytes },
  ws: { isBytes: false, connect: connectWs },
  "socket.io": { isBytes: false, connect: connectSocketIo },
};

// What protoc-gen-es and protoc-gen-fastport generate, for the message of FastPort.Server's typed echo.
const file = create(FileDescriptorProtoSchema, {
  name: "echo.proto",
  package: "fastport",
  syntax: "proto3",
  messageType: [{
    name: "Echo",
    field: [{ name: "payload", number: 1, type: FieldDescriptorProto_Type.BYTES, label: FieldDescriptorProto_Label.OPTIONAL }],
  }],
});
const Echo = createFileRegistry(file, () => undefined).getMessage("fastport.Echo");
const Diagnostics = {
  typeName: "fastport.Diagnostics",
  methods: { echo: { kind: "unary", name: "fastport.Diagnostics/Echo", type: 0x0100, input: Echo, output: Echo } },
};

async function connectFastPort(endpoint) {
  const client = new FastPortClient({ transport: endpoint.startsWith("ws") ? webSocket(endpoint, { WebSocket }) : socket(endpoint) });
  await client.connect();
  return client;
}

async function connectService(endpoint) {
  const client = await connectFastPort(endpoint);
  const diagnostics = serviceClient(client, Diagnostics);
  return { call: async (payload) => (await diagnostics.echo({ payload })).payload, close: () => client.close() };
}

// FastPort.Server's echo takes messages: these are encoded before.
async function connectBytes(endpoint) {
  const client = await connectFastPort(endpoint);
  const bodies = new Map();
  const bodyOf = (payload) => {
    const body = toBinary(Echo, create(Echo, { payload }));
    bodies.set(payload, body);
    return body;
  };
  return {
    call: async (payload) => {
      const body = bodies.get(payload) ?? bodyOf(payload);
      const reply = await client.request(0x0100, body);
      return reply.subarray(body.length - payload.length);
    },
    close: () => client.close(),
  };
}

async function connectWs(endpoint) {
  const connection = new WebSocket(endpoint);
  const calls = new Map();
  let last = 0;
  connection.on("message", (message) => {
    const { id, payload } = JSON.parse(message);
    const resolve = calls.get(id);
    calls.delete(id);
    resolve(payload);
  });
  await new Promise((resolve, reject) => connection.once("open", resolve).once("error", reject));
  return {
    call: (payload) => new Promise((resolve) => {
      const id = ++last;
      calls.set(id, resolve);
      connection.send(JSON.stringify({ id, payload }));
    }),
    close: () => connection.terminate(),
  };
}

async function connectSocketIo(endpoint) {
  const connection = io(endpoint, { transports: ["websocket"] });
  await new Promise((resolve, reject) => connection.once("connect", resolve).once("connect_error", reject));
  return { call: (payload) => connection.emitWithAck("echo", payload), close: () => connection.close() };
}
