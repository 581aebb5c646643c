import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { CallContext, TypeHandler } from "../session/handlers.js";
import { convert } from "../streams/pump.js";
import { decode, encode, type Method, type Service } from "./service.js";

type MethodHandler<M> =
  M extends Method<"unary", infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => MessageInitShape<O> | Promise<MessageInitShape<O>>
  : M extends Method<"server-stream", infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
  : M extends Method<"client-stream", infer I, infer O>
    ? (requests: AsyncIterable<MessageShape<I>>, context: CallContext) => Promise<MessageInitShape<O>>
  : M extends Method<"duplex", infer I, infer O>
    ? (requests: AsyncIterable<MessageShape<I>>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
  : never;

/** The handlers of a service's methods. One that is left out is answered with `UnknownType`. */
export type ServiceHandlers<S extends Service> = { readonly [K in keyof S["methods"]]?: MethodHandler<S["methods"][K]> };

/** What takes handlers: a client. */
export interface HandlerTarget {
  handleAs(type: number, handler: TypeHandler): void;
}

/**
 * Handles the calls of a service that the server makes. Register handlers before `connect`.
 * @throws RangeError A message type of the service has a handler.
 */
export function handleService<S extends Service>(client: HandlerTarget, service: S, handlers: ServiceHandlers<S>): void {
  for (const [name, method] of Object.entries(service.methods)) {
    const handler = (handlers as Record<string, AnyHandler | undefined>)[name];
    if (handler) {
      client.handleAs(method.type, handlerOf(method, handler.bind(handlers)));
    }
  }
}

type Message = MessageInitShape<DescMessage>;
type AnyHandler = (request: unknown, context: CallContext) => unknown;

function handlerOf({ kind, input, output }: Method, run: AnyHandler): TypeHandler {
  const read = (body: Uint8Array) => decode(input, body);
  const write = (message: Message) => encode(output, message);
  switch (kind) {
    case "unary":
      return { kind, run: async (body, context) => write(await run(read(body), context) as Message) };
    case "server-stream":
      return {
        kind,
        run: async function* (requests, context) {
          for await (const body of requests) {
            yield* convert(run(read(body), context) as AsyncIterable<Message>, write);
          }
        },
      };
    case "client-stream":
      return { kind, run: async (requests, context) => write(await run(convert(requests, read), context) as Message) };
    case "duplex":
      return { kind, run: (requests, context) => convert(run(convert(requests, read), context) as AsyncIterable<Message>, write) };
  }
}
