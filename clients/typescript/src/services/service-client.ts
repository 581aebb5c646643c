import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller, StreamOptions } from "../session/caller.js";
import type { CallOptions } from "../session/request.js";
import { convert, type Items } from "../streams/pump.js";
import type { ClientCall, ClientInterceptor } from "./interceptor.js";
import { decode, encode, type Method, type Service } from "./service.js";

type ClientMethod<M> =
  M extends Method<"unary", infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
  : M extends Method<"server-stream", infer I, infer O>
    ? (request: MessageInitShape<I>, options?: StreamOptions) => AsyncGenerator<MessageShape<O>, void, undefined>
  : M extends Method<"client-stream", infer I, infer O>
    ? (requests: Items<MessageInitShape<I>>, options?: CallOptions) => Promise<MessageShape<O>>
  : M extends Method<"duplex", infer I, infer O>
    ? (requests: Items<MessageInitShape<I>>, options?: StreamOptions) => AsyncGenerator<MessageShape<O>, void, undefined>
  : never;

/** The calls of a service, one function for each method. */
export type ServiceClient<S extends Service> = { readonly [K in keyof S["methods"]]: ClientMethod<S["methods"][K]> };

/**
 * Makes the calls of a service.
 * @param caller A client, or one of its sessions.
 * @param service What `protoc-gen-fastport` has generated.
 * @param interceptors Run around every call; the first one is the outermost. Defaults to none.
 */
export function serviceClient<S extends Service>(
  caller: Caller, service: S, interceptors: readonly ClientInterceptor[] = [],
): ServiceClient<S> {
  return Object.fromEntries(Object.entries(service.methods).map(([name, method]) =>
    [name, callOf(caller, method, interceptors)])) as ServiceClient<S>;
}

type Message = MessageInitShape<DescMessage>;

function callOf(caller: Caller, method: Method, interceptors: readonly ClientInterceptor[]): unknown {
  const { kind, name, type, input, output } = method;
  const write = (message: Message) => encode(input, message);
  const read = (body: Uint8Array) => decode(output, body);
  const single = (call: (call: ClientCall<never>) => Promise<Message>) => {
    const whole = interceptors.reduceRight((next, one) => one.call ? (call) => one.call!(call, next) : next, call);
    const make = (request: never, options: CallOptions = {}) => whole({ method: name, type, request, options });
    return whole === call ? make : async (request: never, options?: CallOptions) => make(request, options);
  };
  const streaming = (call: (call: ClientCall<never>) => AsyncIterable<Message>) => {
    const whole = interceptors.reduceRight((next, one) => one.stream ? (call) => one.stream!(call, next) : next, call);
    const make = (request: never, options: StreamOptions = {}) => whole({ method: name, type, request, options });
    return whole === call ? make : async function* (request: never, options?: StreamOptions) {
      yield* make(request, options);
    };
  };
  switch (kind) {
    case "unary":
      return single(({ request, options }) => caller.requestAs(type, write(request), read, options));
    case "server-stream":
      return streaming(({ request, options }) => convert(caller.stream(type, write(request), options), read));
    case "client-stream":
      return single(async ({ request, options }) =>
        read(await caller.sendStream(type, convert(request as Items<Message>, write), options)));
    case "duplex":
      return streaming(({ request, options }) =>
        convert(caller.stream(type, convert(request as Items<Message>, write), options), read));
  }
}
