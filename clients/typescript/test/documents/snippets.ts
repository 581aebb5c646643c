import {
  ErrorCode, FastPortClient, FastPortError, errorDetail, handleService, readErrorDetail, serviceClient, webSocket, type ClientInterceptor,
} from "fastport";
import { socket } from "fastport/node";
import { TagClient, TagType, dateOf, isGood } from "fastport/tags";
import { WebSocket } from "ws";
import { Speller } from "../generated/spelling_fastport.js";
import { TotalSchema } from "../generated/spelling_pb.js";

// docs: transports
export const inBrowser = (url: string) => webSocket(url); // wss://play.example.org/fastport
export const inNode20 = (url: string) => webSocket(url, { WebSocket }); // The WebSocket of the package ws.
export const overTls = (ca: Buffer) => socket("tls://plant.example.org:6628", { tls: { ca } });
// docs: end

// docs: failures
export async function count(client: FastPortClient, letters: string[], signal?: AbortSignal): Promise<string> {
  try {
    const total = await serviceClient(client, Speller).count(letters.map((text) => ({ text })), { timeout: 5000, signal });
    return `${total.letters} letters`;
  } catch (e) {
    if (e instanceof FastPortError && e.failure === undefined) {
      return `${e.code}: ${e.message} ${readErrorDetail(e, TotalSchema)?.letters ?? 0} letters until then`;
    }

    throw e;
  }
}
// docs: end

// docs: interceptor
export const retries: ClientInterceptor = {
  async call(call, next) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(call);
      } catch (e) {
        if (!(e instanceof FastPortError && e.code === ErrorCode.Unavailable && attempt < 3)) {
          throw e;
        }

        await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
      }
    }
  },
};

export const patientSpeller = (client: FastPortClient) => serviceClient(client, Speller, [retries]);
// docs: end

// docs: handlers
export function answerCalls(client: FastPortClient): void {
  handleService(client, Speller, {
    async *spell({ text }) {
      yield* Array.from(text, (letter) => ({ text: letter }));
    },
    async count(letters) {
      let total = 0;
      for await (const { text } of letters) {
        if (text === "") {
          throw new FastPortError(ErrorCode.Forbidden, "A letter is empty.", errorDetail(TotalSchema, { letters: total }));
        }

        total += 1;
      }

      return { letters: total };
    },
  });
}
// docs: end

// docs: routing
export async function chat(client: FastPortClient, show: (line: string) => void): Promise<void> {
  client.routing.onRelayed(1, ({ from, body }) => show(`${from}: ${new TextDecoder().decode(body)}`));
  await client.connect();
  await client.routing.relay("bob", 1, new TextEncoder().encode("hello"));
  for await (const { topic, dropped } of client.routing.readTopic("news/")) {
    show(dropped > 0 ? `${topic}, after ${dropped} that were dropped` : topic);
    if (topic === "news/last") {
      break;
    }
  }
}
// docs: end

// docs: tags
export async function useTags(bridge: string, show: (line: string) => void): Promise<void> {
  const client = new FastPortClient({ transport: socket(bridge) });
  const tags = new TagClient(client);
  await client.connect();
  const { value, status, sourceTime } = await tags.read("simulation/Int32.0");
  show(`${value} ${isGood(status)} ${dateOf(sourceTime).getFullYear() > 2020}`);
  show(`${await tags.write("simulation/Double.0", 12.5)}`);
  for await (const { name, sample } of tags.watch(["simulation/Int32.0"], { interval: 100 })) {
    show(`${name}: ${typeof sample.value}`);
    break;
  }

  await client.close();
}
// docs: end

// docs: publish
export async function publishPress(bridge: string, signal: AbortSignal): Promise<void> {
  const client = new FastPortClient({ transport: socket(bridge), routingId: "press-4" });
  const tags = new TagClient(client);
  await client.connect();
  const press = await tags.publish([
    { name: "press/speed", type: TagType.Double, value: 0, unit: "rpm" },
    { name: "press/limit", type: TagType.Double, value: 90, onWrite: ({ value }) => console.log(`The limit is ${value} now.`) },
  ]);
  for (let speed = 0; !signal.aborted; speed = (speed + 1) % 90) {
    press.set("press/speed", speed);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  await press.close();
  await client.close();
}
// docs: end
