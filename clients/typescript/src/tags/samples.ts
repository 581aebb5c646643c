import { WireType } from "@bufbuild/protobuf/wire";
import { bytes, define, packed, uint32, type Field, type MessageOf } from "../messages/fields.js";
import { concat } from "../frames/encode.js";
import { TagType } from "./tag-type.js";
import type { TagSample, TagScalar, TagValue } from "./tag-value.js";

const ArrayBit = 0x80;
const DimensionsBit = 0x40;
const TypeBits = 0x3f;

const numbers = (wire: WireType.Bit32 | WireType.Bit64, name: "fixed32" | "sfixed32" | "float" | "double"): Field<number[]> =>
  packed(wire, (reader) => reader[name](), (writer, value) => writer[name](value));
const bigints = (name: "fixed64" | "sfixed64"): Field<bigint[]> =>
  packed(WireType.Bit64, (reader) => BigInt(reader[name]()), (writer, value) => writer[name](value));

/** Any number of fixed32. */
export const fixed32s = numbers(WireType.Bit32, "fixed32");
const sfixed32s = numbers(WireType.Bit32, "sfixed32");
const sfixed64s = bigints("sfixed64");

/** Samples as columns: rows take their values from the column of their type, in order. */
export const Samples = define({
  count: [1, uint32],
  types: [2, bytes],
  statuses: [3, fixed32s],
  sourceTimes: [4, sfixed64s],
  serverTimes: [5, sfixed64s],
  bools: [6, packed(WireType.Varint, (reader) => reader.bool(), (writer, value) => writer.bool(value))],
  ints: [7, sfixed32s],
  uints: [8, fixed32s],
  longs: [9, sfixed64s],
  ulongs: [10, bigints("fixed64")],
  floats: [11, numbers(WireType.Bit32, "float")],
  doubles: [12, numbers(WireType.Bit64, "double")],
  sizes: [13, sfixed32s],
  data: [14, bytes],
  lengths: [15, sfixed32s],
  dimensions: [16, fixed32s],
});

type Columns = MessageOf<typeof Samples>;
type ColumnName = "bools" | "ints" | "uints" | "longs" | "ulongs" | "floats" | "doubles";

const columnOfType: Record<number, ColumnName> = {
  [TagType.Boolean]: "bools",
  [TagType.SByte]: "ints",
  [TagType.Int16]: "ints",
  [TagType.Int32]: "ints",
  [TagType.Byte]: "uints",
  [TagType.UInt16]: "uints",
  [TagType.UInt32]: "uints",
  [TagType.StatusCode]: "uints",
  [TagType.Int64]: "longs",
  [TagType.DateTime]: "longs",
  [TagType.UInt64]: "ulongs",
  [TagType.Float]: "floats",
  [TagType.Double]: "doubles",
};

function isText(type: number): boolean {
  return type === TagType.String || type === TagType.XmlElement;
}

/** Values as columns, without statuses and times. */
export function columnsOf(values: readonly TagValue[]): Columns {
  const columns = Samples.decode(new Uint8Array(0));
  const { sizes, lengths, dimensions } = columns;
  const types = new Uint8Array(values.length);
  const data: Uint8Array[] = [];
  const add = (type: number, value: TagScalar) => {
    const column = columnOfType[type];
    if (column) {
      (columns[column] as TagScalar[]).push(value);
      return;
    }

    const part = typeof value === "string" ? new TextEncoder().encode(value) : value as Uint8Array | null;
    sizes.push(part?.length ?? -1);
    data.push(part ?? new Uint8Array(0));
  };
  for (const [row, { type, value, isArray, dimensions: shape }] of values.entries()) {
    types[row] = type;
    if (isArray || Array.isArray(value)) {
      types[row]! |= ArrayBit | (shape ? DimensionsBit : 0);
      dimensions.push(...(shape ? [shape.length, ...shape] : []));
      const elements = value as readonly TagScalar[] | null;
      lengths.push(elements?.length ?? -1);
      elements?.forEach((element) => add(type, element));
    } else if (type !== TagType.Null) {
      add(type, value as TagScalar);
    }
  }

  return { ...columns, count: values.length, types, data: concat(data) };
}

/**
 * The samples of columns.
 * @throws RangeError A column is too short.
 */
export function samplesOf(columns: Columns): TagSample[] {
  const { count, types, statuses, sourceTimes, serverTimes } = columns;
  if (types.length > 1 && types.length < count) {
    throw new RangeError("There are more rows than types.");
  }

  const reader = new ColumnReader(columns);
  return Array.from({ length: count }, (_, row) => ({
    ...reader.value(atRow(types, row) ?? 0),
    status: atRow(statuses, row) ?? 0,
    sourceTime: atRow(sourceTimes, row) ?? 0n,
    serverTime: atRow(serverTimes, row) ?? 0n,
  }));
}

/** The entry of a row in a column that has nothing, one entry for all rows, or one for each. */
export function atRow<T>(column: ArrayLike<T>, row: number): T | undefined {
  return column[column.length === 1 ? 0 : row];
}

class ColumnReader {
  readonly #columns: Columns;
  readonly #next: Partial<Record<keyof Columns, number>> = {};

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  value(encoding: number): TagValue {
    const type = encoding & TypeBits;
    if (!(encoding & ArrayBit)) {
      return { type, value: type === TagType.Null ? null : this.#scalar(type) };
    }

    const length = this.#take("lengths") as number;
    const shape = encoding & DimensionsBit ? { dimensions: this.#times(this.#take("dimensions") as number, "dimensions") as number[] } : {};
    const column = columnOfType[type] ?? "sizes";
    return { type, value: length < 0 ? null : this.#times(length, column, type), isArray: true, ...shape };
  }

  #scalar(type: number): TagScalar {
    const column = columnOfType[type];
    if (column) {
      return this.#take(column) as TagScalar;
    }

    const size = this.#take("sizes") as number;
    if (size < 0) {
      return null;
    }

    const start = this.#next.data ?? 0;
    const part = this.#columns.data.subarray(start, (this.#next.data = start + size));
    if (part.length < size) {
      throw new RangeError("The data of samples is too short.");
    }

    return isText(type) ? new TextDecoder().decode(part) : part;
  }

  /** Checked before anything is allocated for it. */
  #times(count: number, column: keyof Columns, type?: number): TagScalar[] {
    const left = (this.#columns[column] as ArrayLike<unknown>).length - (this.#next[column] ?? 0);
    if (count > left) {
      throw new RangeError(`The column ${column} of samples is too short.`);
    }

    return Array.from({ length: count }, () => type === undefined ? this.#take(column) as TagScalar : this.#scalar(type));
  }

  #take(column: keyof Columns): unknown {
    const at = this.#next[column] ?? 0;
    const values = this.#columns[column] as ArrayLike<unknown>;
    if (at >= values.length) {
      throw new RangeError(`The column ${column} of samples is too short.`);
    }

    this.#next[column] = at + 1;
    return values[at];
  }
}
