import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller, StreamOptions } from "../session/caller.js";
import type { CallOptions } from "../session/request.js";
import { convert, type Items } from "../streams/pump.js";
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
 */
export function serviceClient<S extends Service>(caller: Caller, service: S): ServiceClient<S> {
  return Object.fromEntries(Object.entries(service.methods).map(([name, method]) => [name, callOf(caller, method)])) as ServiceClient<S>;
}

type Message = MessageInitShape<DescMessage>;

function callOf(caller: Caller, { kind, type, input, output }: Method): unknown {
  const write = (message: Message) => encode(input, message);
  const read = (body: Uint8Array) => decode(output, body);
  switch (kind) {
    case "unary":
      return (request: Message, options?: CallOptions) => caller.requestAs(type, write(request), read, options);
    case "server-stream":
      return (request: Message, options?: StreamOptions) => convert(caller.stream(type, write(request), options), read);
    case "client-stream":
      return async (requests: Items<Message>, options?: CallOptions) =>
        read(await caller.sendStream(type, convert(requests, write), options));
    case "duplex":
      return (requests: Items<Message>, options?: StreamOptions) => convert(caller.stream(type, convert(requests, write), options), read);
  }
}
