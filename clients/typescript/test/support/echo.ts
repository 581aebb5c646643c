import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** The message type that FastPort.Server answers with the message. */
export const Echo = 0x0100;

/** The body of an Echo. */
export function echoOf(text: string | Uint8Array): Uint8Array {
  const payload = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(payload).finish();
}

/** The payload of an Echo, as text. */
export function textOf(body: Uint8Array): string {
  const reader = new BinaryReader(body);
  reader.tag();
  return reader.string();
}
