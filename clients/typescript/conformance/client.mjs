import { FastPortClient, FastPortError } from "fastport";
import { TagClient } from "fastport/tags";
import { fromHex, toHex } from "./hex.mjs";
import { sampleToJson, valueOfJson } from "./tags.mjs";

const Canceled = new Error("The case has canceled the call.");


/** Does the commands of conformance/README.md with a FastPortClient, and reports the events. */
export class ClientAdapter {
  #transportOf;
  #report;
  #client;
  #tags;
  #watches = new Map();
  #calls = new Map();
  #unsubscribe = new Map();

  /** The transport of a connect command is `transportOf(command)`. */
  constructor(transportOf, report, lacks) {
    this.#transportOf = transportOf;
    this.#report = (event, values = {}) => report({ event, ...values });
    this.#report("ready", { name: "FastPort for TypeScript", lacks: ["trace", ...lacks] });
  }

  /** Begins a command; what becomes of it is an event. */
  do(command) {
    try {
      this.#begin(command);
    } catch (e) {
      this.#report("trouble", { message: String(e?.stack ?? e) });
    }
  }

  #begin(command) {
    const { do: name, id = name, type, timeout } = command;
    const body = fromHex(command.body);
    switch (name) {
      case "connect":
        this.#client = this.#create(command);
        this.#tags = command.tags ? new TagClient(this.#client) : undefined;
        void this.#client.connect().catch((e) => this.#report("failed", failure("connect", e)));
        break;
      case "request":
        this.#call(id, "reply", async (signal) => ({ body: toHex(await this.#client.request(type, body, { timeout, signal })) }));
        break;
      case "send":
        this.#call(id, "sent", (signal) => this.#client.send(type, body, { timeout, signal }));
        break;
      case "cancel":
        this.#abortOf(id).abort(Canceled);
        break;
      case "stream":
        this.#openStream(id, command, body);
        break;
      case "read":
        void this.#read(id);
        break;
      case "write":
        this.#calls.get(id).requests.push(body);
        break;
      case "finish":
        this.#calls.get(id).requests.finish();
        break;
      case "subscribe":
        this.#call(id, "done", async (signal) => {
          const report = ({ topic, type: kind, body: content, from }) =>
            this.#report("published", { topic, type: kind, body: toHex(content), from });
          this.#unsubscribe.set(command.prefix, await this.#client.routing.subscribe(command.prefix, report, { timeout, signal }));
        });
        break;
      case "unsubscribe":
        this.#call(id, "done", () => this.#unsubscribe.get(command.prefix)());
        break;
      case "publish":
        this.#call(id, "done", async (signal) =>
          ({ sessions: await this.#client.routing.publish(command.topic, type, body, { timeout, signal }) }));
        break;
      case "relay":
        this.#call(id, "done", (signal) => this.#client.routing.relay(command.to, type, body, { timeout, signal }));
        break;
      case "peers":
        this.#call(id, "done", async (signal) => {
          const ids = [];
          for await (const { routingId } of this.#client.routing.peers(command.prefix, { timeout, signal })) {
            ids.push(routingId);
          }

          return { ids };
        });
        break;
      case "readTags":
        this.#call(id, "samples", async (signal) => {
          const samples = await this.#tags.readMany(command.names, { maxAge: command.maxAge, timeout, signal });
          return { samples: samples.map(sampleToJson) };
        });
        break;
      case "writeTags":
        this.#call(id, "done", async (signal) => {
          const values = command.values.map((value) => [value.name, valueOfJson(value)]);
          return { statuses: await this.#tags.writeMany(values, { timeout, signal }) };
        });
        break;
      case "watch":
        this.#watches.set(id, this.#tags.watch(command.names, { interval: command.interval, queueSize: command.queueSize }));
        break;
      case "unwatch":
        void this.#watches.get(id).return();
        break;
      case "disconnect":
        this.#call(id, "closed", () => this.#client.close());
        break;
      case "end":
        void this.#end();
        break;
      default:
        throw new RangeError(`There is no command ${name}.`);
    }
  }

  #create(command) {
    const { handlers = [], relayed = [], window } = command;
    const client = new FastPortClient({
      transport: this.#transportOf(command),
      routingId: command.routingId,
      token: command.token,
      clientName: command.clientName,
      timing: command.timing,
      reconnect: command.reconnect,
      requestTimeout: command.requestTimeout,
      connectTimeout: command.connectTimeout,
      heartbeatInterval: command.heartbeatInterval,
      maxFrameBytes: command.maxFrameBytes,
      streamWindow: window && { messages: window.messages ?? 256, bytes: window.bytes ?? 128 * 1024 },
      reconnectDelay: 20,
      maxReconnectDelay: 100,
      onConnected: ({ id }) => this.#report("connected", { session: id.toString() }),
      onDisconnected: (_, { code, message }) => this.#report("disconnected", { code, message }),
      onHandlerError: () => {},
    });
    handlers.forEach((handler) => client.handleAs(handler.type, this.#handler(handler)));
    relayed.forEach((type) => client.routing.onRelayed(type, ({ body, from }) =>
      this.#report("relayed", { type, body: toHex(body), from })));
    return client;
  }

  #handler({ type, does, body: hex, code, message, count }) {
    const body = fromHex(hex);
    const report = (event, values) => this.#report(event, { type, ...values });
    const unary = (run) => ({ kind: "unary", run });
    switch (does) {
      case "echo":
        return unary((request) => request.slice());
      case "reply":
        return unary(() => body);
      case "fail":
        return unary(() => {
          throw new FastPortError(code, message);
        });
      case "throw":
        return unary(() => {
          throw new Error(message);
        });
      case "record":
        return unary((request) => report("message", { body: toHex(request) }));
      case "wait":
        return unary(async (_, { signal }) => {
          report("waiting");
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          report("canceled");
        });
      case "items":
        return {
          kind: "server-stream",
          async *run(_, { signal }) {
            try {
              for (let i = 0; i < count; i++) {
                yield body;
              }
            } finally {
              if (signal.aborted) {
                report("canceled");
              }
            }
          },
        };
      case "collect":
        return {
          kind: "client-stream",
          async run(requests) {
            for await (const item of requests) {
              report("message", { body: toHex(item) });
            }

            return body;
          },
        };
      default:
        throw new RangeError(`No handler does ${does}.`);
    }
  }

  #openStream(id, { type, requests, replies, timeout }, body) {
    const { signal } = this.#abortOf(id);
    const items = new Requests();
    const request = requests === "stream" ? items : body;
    const call = { requests: items, reading: Promise.resolve() };
    this.#calls.set(id, call);
    if (replies === "stream") {
      call.replies = this.#client.stream(type, request, { timeout, signal });
    } else {
      this.#call(id, "reply", async () => ({ body: toHex(await this.#client.sendStream(type, request, { timeout, signal })) }));
    }
  }

  async #read(id) {
    try {
      const watch = this.#watches.get(id);
      if (watch) {
        const { value: { name, sample } } = await watch.next();
        this.#report("change", { id, name, ...sampleToJson(sample) });
        return;
      }

      const { done, value } = await this.#calls.get(id).replies.next();
      this.#report(done ? "done" : "item", done ? { id } : { id, body: toHex(value) });
    } catch (e) {
      this.#report("failed", failure(id, e));
    }
  }

  #call(id, success, call) {
    call(this.#abortOf(id).signal).then(
      (values) => this.#report(success, { id, ...values }),
      (e) => this.#report("failed", failure(id, e)),
    );
  }

  #abortOf(id) {
    const key = `abort ${id}`;
    if (!this.#calls.has(key)) {
      this.#calls.set(key, new AbortController());
    }

    return this.#calls.get(key);
  }

  // The connections are cut before: nothing waits for a reply.
  async #end() {
    await this.#client?.close();
    await new Promise((resolve) => setTimeout(resolve));
    this.#client = undefined;
    this.#watches.clear();
    this.#calls.clear();
    this.#unsubscribe.clear();
    this.#report("ended");
  }
}

/** The requests of a stream, as the case writes them. */
class Requests {
  #items = [];
  #wake = () => {};
  #isWhole = false;

  push(item) {
    this.#items.push(item);
    this.#wake();
  }

  finish() {
    this.#isWhole = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      if (this.#items.length !== 0) {
        yield this.#items.shift();
      } else if (this.#isWhole) {
        return;
      } else {
        await new Promise((resolve) => (this.#wake = resolve));
      }
    }
  }
}

function failure(id, e) {
  if (!(e instanceof FastPortError)) {
    const why = e === Canceled ? "canceled" : e instanceof RangeError ? "too-large" : "unreachable";
    return { id, why, message: String(e?.message ?? e) };
  }

  const { code, message, detail, failure: why } = e;
  return why
    ? { id, why, message }
    : { id, why: "error", code, message, ...(detail && { detail: { typeUrl: detail.typeUrl, value: toHex(detail.value) } }) };
}
