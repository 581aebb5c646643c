// node conformance.mjs: the adapter of this folder's client for the conformance suite. A line of JSON for each command on its input, and
// for each event on its output; conformance/README.md defines them.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client } from './client/client.mjs';
import { Refusal } from './client/answers.mjs';

const report = (event, values = {}) => process.stdout.write(`${JSON.stringify({ event, ...values })}\n`);
const hex = (bytes) => Buffer.from(bytes).toString('hex');

let client;
let aborts = new Map();
let streams = new Map();

const abortOf = (id) => aborts.get(id) ?? aborts.set(id, new AbortController()).get(id);

function failure(id, e) {
  const { why = 'unreachable', code, detail, message } = e;
  return {
    id, why, message,
    ...(why === 'error' && { code }),
    ...(detail && { detail: { typeUrl: detail.typeUrl, value: hex(detail.value) } }),
  };
}

function answer(id, success, call) {
  call.then((values) => report(success, { id, ...values }), (e) => report('failed', failure(id, e)));
}

function handlerOf({ type, does, body: text, code, message, count }) {
  const body = Buffer.from(text ?? '', 'hex');
  const unary = (run) => ({ kind: 'unary', run });
  const handlers = {
    echo: () => unary((request) => request),
    reply: () => unary(() => body),
    fail: () => unary(() => Promise.reject(new Refusal(code, message))),
    throw: () => unary(() => Promise.reject(new Error(message))),
    record: () => unary((request) => report('message', { type, body: hex(request) })),
    wait: () => unary(async (_, signal) => {
      report('waiting', { type });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      report('canceled', { type });
    }),
    items: () => ({
      kind: 'replies',
      async *run(_, signal) {
        signal.addEventListener('abort', () => report('canceled', { type }));
        for (let i = 0; i < count; i++) {
          yield body;
        }
      },
    }),
    collect: () => ({
      kind: 'requests',
      async run(items) {
        for await (const item of items) {
          report('message', { type, body: hex(item) });
        }

        return body;
      },
    }),
  };
  return handlers[does]();
}

function create(command) {
  const { endpoint, authority, routingId = '', token = '', clientName = '', handlers = [], relayed = [], window } = command;
  const given = ['timing', 'reconnect', 'requestTimeout', 'connectTimeout', 'heartbeatInterval', 'maxFrameBytes']
    .filter((name) => command[name] !== undefined)
    .map((name) => [name, command[name]]);
  return new Client({
    ...Object.fromEntries(given),
    ...(window && { window: { messages: window.messages ?? 256, bytes: window.bytes ?? 128 * 1024 } }),
    endpoint,
    authority: authority && readFileSync(authority),
    hello: { routingId, token, clientName },
    handlers: new Map(handlers.map((handler) => [handler.type, handlerOf(handler)])),
    onConnected: ({ id }) => report('connected', { session: id }),
    onDisconnected: ({ code, message }) => report('disconnected', { code, message }),
    onRelayed: ({ type, body, from }) => relayed.includes(type) && report('relayed', { type, body: hex(body), from }),
  });
}

const commands = {
  connect(command) {
    client = create(command);
    client.connect().catch((e) => report('failed', failure('connect', e)));
  },
  request: ({ id, type, timeout }, body) =>
    answer(id, 'reply', client.request(type, body, { timeout, signal: abortOf(id).signal }).then((reply) => ({ body: hex(reply) }))),
  send: ({ id, type }, body) => answer(id, 'sent', client.oneWay(type, body)),
  cancel: ({ id }) => abortOf(id).abort(),
  stream({ id, type, requests, replies, timeout }, body) {
    const streamsReplies = replies === 'stream';
    const { signal } = abortOf(id);
    const call = client.stream(type, { body: requests === 'stream' ? undefined : body, streamsReplies, timeout, signal });
    call.catch(() => {});
    streams.set(id, call);
    if (!streamsReplies) {
      answer(id, 'reply', call.then((opened) => opened.next()).then((reply) => ({ body: hex(reply) })));
    }
  },
  read: ({ id }) => streams.get(id).then((call) => call.next()).then(
    (item) => report(item ? 'item' : 'done', item ? { id, body: hex(item) } : { id }),
    (e) => report('failed', failure(id, e)),
  ),
  write: ({ id }, body) => streams.get(id).then((call) => call.write(body)),
  finish: ({ id }) => streams.get(id).then((call) => call.finish()),
  subscribe: ({ id, prefix, timeout }) => answer(id, 'done', client.subscribe(
    prefix, ({ topic, type, body, from }) => report('published', { topic, type, body: hex(body), from }), { timeout })),
  unsubscribe: ({ id, prefix, timeout }) => answer(id, 'done', client.unsubscribe(prefix, { timeout })),
  publish: ({ id, topic, type, timeout }, body) =>
    answer(id, 'done', client.publish(topic, type, body, { timeout }).then((sessions) => ({ sessions }))),
  relay: ({ id, to, type, timeout }, body) => answer(id, 'done', client.relay(to, type, body, { timeout }).then(() => {})),
  peers: ({ id, prefix, timeout }) => answer(id, 'done', client.peers(prefix, { timeout }).then((ids) => ({ ids }))),
  disconnect: () => answer('disconnect', 'closed', client.close()),
  async end() {
    await client?.close();
    await new Promise((resolve) => setTimeout(resolve));
    client = undefined;
    aborts = new Map();
    streams = new Map();
    report('ended');
  },
};

report('ready', { name: 'the Node.js peer of the interop tests', lacks: ['inproc', 'tags'] });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    commands[command.do](command, Buffer.from(command.body ?? '', 'hex'));
  } catch (e) {
    report('trouble', { message: e.stack });
  }
}

process.exit();
