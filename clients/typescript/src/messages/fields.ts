import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** How the values of a field are read and written. */
export interface Field<T> {
  /** The value of a field that is absent. */
  readonly empty: () => T;
  readonly read: (reader: BinaryReader, wire: WireType, before: T) => T;
  /** Writes the tag and the value, or nothing for the empty value. */
  readonly write: (writer: BinaryWriter, number: number, value: T) => void;
}

/** Encodes and decodes the messages of one type. Unknown fields are skipped. */
export interface Codec<T> {
  encode(message: Partial<T>): Uint8Array;
  /** @throws Error if the bytes are not a message of the type. */
  decode(bytes: Uint8Array): T;
}

type Fields = Record<string, readonly [number: number, field: Field<any>]>;

/** The messages of a codec that `define` has made. */
export type MessageOf<C> = C extends Codec<infer T> ? T : never;

/** A message type, as its fields with their numbers. */
export function define<const F extends Fields>(
  fields: F,
): Codec<{ -readonly [K in keyof F]: F[K] extends readonly [number, Field<infer T>] ? T : never }> {
  type Message = Record<string, unknown>;
  const byNumber = new Map(Object.entries(fields).map(([name, [number, field]]) => [number, { name, field }]));
  return {
    encode(message) {
      const writer = new BinaryWriter();
      for (const [number, { name, field }] of byNumber) {
        const value = (message as Message)[name];
        if (value !== undefined) {
          field.write(writer, number, value);
        }
      }

      return writer.finish();
    },
    decode(bytes) {
      const message: Message = {};
      for (const { name, field } of byNumber.values()) {
        message[name] = field.empty();
      }

      const reader = new BinaryReader(bytes);
      while (reader.pos < reader.len) {
        const [number, wire] = reader.tag();
        const known = byNumber.get(number);
        if (known) {
          message[known.name] = known.field.read(reader, wire, message[known.name]);
        } else {
          reader.skip(wire, number);
        }
      }

      return message as never;
    },
  };
}

function scalar<T>(wire: WireType, empty: T, read: (reader: BinaryReader) => T, write: (writer: BinaryWriter, value: T) => void): Field<T> {
  return {
    empty: () => empty,
    read: (reader, actual) => read(expect(reader, actual, wire)),
    write: (writer, number, value) => {
      if (value !== empty) {
        write(writer.tag(number, wire), value);
      }
    },
  };
}

export const text = scalar(WireType.LengthDelimited, "", (r) => r.string(), (w, value) => w.string(value));
export const uint32 = scalar(WireType.Varint, 0, (r) => r.uint32(), (w, value) => w.uint32(value));
export const sint32 = scalar(WireType.Varint, 0, (r) => r.sint32(), (w, value) => w.sint32(value));
export const fixed32 = scalar(WireType.Bit32, 0, (r) => r.fixed32(), (w, value) => w.fixed32(value));
export const flag = scalar(WireType.Varint, false, (r) => r.bool(), (w, value) => w.bool(value));
export const double = scalar(WireType.Bit64, 0, (r) => r.double(), (w, value) => w.double(value));
export const uint64 = scalar(WireType.Varint, 0n, (r) => BigInt(r.uint64()), (w, value) => w.uint64(value));

/** A uint64 that counts: exact up to 2^53. */
export const count = scalar(WireType.Varint, 0, (r) => Number(r.uint64()), (w, value) => w.uint64(value));

const noBytes = new Uint8Array(0);

export const bytes: Field<Uint8Array> = {
  empty: () => noBytes,
  read: (reader, wire) => expect(reader, wire, WireType.LengthDelimited).bytes(),
  write: (writer, number, value) => {
    if (value.length !== 0) {
      writer.tag(number, WireType.LengthDelimited).bytes(value);
    }
  },
};

/** A message, absent if undefined. */
export function nested<T>(codec: Codec<T>): Field<T | undefined> {
  return {
    empty: () => undefined,
    read: (reader, wire) => codec.decode(bytes.read(reader, wire, noBytes)),
    write: (writer, number, value) => {
      if (value !== undefined) {
        writer.tag(number, WireType.LengthDelimited).bytes(codec.encode(value));
      }
    },
  };
}

/** Any number of texts. */
export const texts: Field<string[]> = {
  empty: () => [],
  read: (reader, wire, before) => {
    before.push(text.read(reader, wire, ""));
    return before;
  },
  write: (writer, number, values) => {
    for (const value of values) {
      writer.tag(number, WireType.LengthDelimited).string(value);
    }
  },
};

/** Any number of messages. */
export function many<T>(codec: Codec<T>): Field<T[]> {
  return {
    empty: () => [],
    read: (reader, wire, before) => {
      before.push(codec.decode(bytes.read(reader, wire, noBytes)));
      return before;
    },
    write: (writer, number, values) => {
      for (const value of values) {
        writer.tag(number, WireType.LengthDelimited).bytes(codec.encode(value));
      }
    },
  };
}

/** Any number of numbers of a fixed width, packed. Both spellings are read. */
export function packed<T>(
  wire: WireType.Varint | WireType.Bit32 | WireType.Bit64,
  read: (reader: BinaryReader) => T,
  write: (writer: BinaryWriter, value: T) => void,
): Field<T[]> {
  return {
    empty: () => [],
    read: (reader, actual, before) => {
      if (actual === wire) {
        before.push(read(reader));
        return before;
      }

      const end = expect(reader, actual, WireType.LengthDelimited).uint32() + reader.pos;
      while (reader.pos < end) {
        before.push(read(reader));
      }

      return before;
    },
    write: (writer, number, values) => {
      if (values.length !== 0) {
        writer.tag(number, WireType.LengthDelimited).fork();
        values.forEach((value) => write(writer, value));
        writer.join();
      }
    },
  };
}

function expect(reader: BinaryReader, actual: WireType, wanted: WireType): BinaryReader {
  if (actual !== wanted) {
    throw new RangeError(`A field has wire type ${actual}, not ${wanted}.`);
  }

  return reader;
}
