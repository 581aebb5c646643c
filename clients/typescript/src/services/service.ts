import { create, fromBinary, toBinary, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { ErrorCode, FastPortError, type ErrorDetail } from "../errors.js";
import type { MethodKind } from "../session/handlers.js";

/** A method of a service: its message type, and the types of its messages. */
export interface Method<K extends MethodKind = MethodKind, I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  readonly kind: K;
  /** Package, service and method, such as `walking.Move/Walk`. */
  readonly name: string;
  readonly type: number;
  readonly input: I;
  readonly output: O;
}

/** A service, as `protoc-gen-fastport` generates it. */
export interface Service {
  readonly typeName: string;
  readonly methods: Readonly<Record<string, Method>>;
}

/** The bytes of a message. */
export function encode<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Uint8Array {
  return toBinary(schema, create(schema, message));
}

/**
 * Reads a message of the peer.
 * @throws FastPortError `MalformedBody`
 */
export function decode<D extends DescMessage>(schema: D, body: Uint8Array): MessageShape<D> {
  try {
    return fromBinary(schema, body);
  } catch (e) {
    throw new FastPortError(ErrorCode.MalformedBody, `The body is not a ${schema.typeName}.`, undefined, undefined, { cause: e });
  }
}

/** A message as the detail of an error. */
export function errorDetail<D extends DescMessage>(schema: D, message: MessageInitShape<D>): ErrorDetail {
  return { typeUrl: `type.googleapis.com/${schema.typeName}`, value: encode(schema, message) };
}

/** The detail of an error, if it is a message of this type. */
export function readErrorDetail<D extends DescMessage>(error: unknown, schema: D): MessageShape<D> | undefined {
  const detail = error instanceof FastPortError ? error.detail : undefined;
  return detail?.typeUrl.split("/").at(-1) === schema.typeName ? decode(schema, detail.value) : undefined;
}
