import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const root = protobuf.loadSync(fileURLToPath(new URL('messages.proto', import.meta.url)));
const lookup = (name) => root.lookupType(`wire.${name}`);

export const Type = Object.freeze({
  Hello: 0x0001,
  Ping: 0x0002,
  Goodbye: 0x0003,
  Relay: 0x0004,
  Subscribe: 0x0005,
  Unsubscribe: 0x0006,
  Publish: 0x0007,
  Peers: 0x0008,
  Cancel: 0x0009,
  Credit: 0x000a,
  Echo: 0x0100,
  Sink: 0x0101,
  SinkReport: 0x0102,
  Source: 0x0103,
});

/** Encodes a message of that name; refuses values that do not fit its fields. */
export function encode(name, value) {
  const type = lookup(name);
  const problem = type.verify(value);
  if (problem) {
    throw new TypeError(`${name}: ${problem}`);
  }

  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

/** Decodes a message of that name to a plain object: 64-bit integers as decimal text, absent fields with their defaults. */
export function decode(name, body) {
  const type = lookup(name);
  return type.toObject(type.decode(body), { longs: String, defaults: true });
}
