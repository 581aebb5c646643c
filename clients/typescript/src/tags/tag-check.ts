import { TagType } from "./tag-type.js";
import type { TagScalar, TagValue } from "./tag-value.js";

const signed = (bits: bigint) => [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] as const;
const unsigned = (bits: bigint) => [0n, 2n ** bits - 1n] as const;

/** The integers of a type. */
const Ranges: Readonly<Record<number, readonly [low: bigint, high: bigint]>> = {
  [TagType.SByte]: signed(8n),
  [TagType.Byte]: unsigned(8n),
  [TagType.Int16]: signed(16n),
  [TagType.UInt16]: unsigned(16n),
  [TagType.Int32]: signed(32n),
  [TagType.UInt32]: unsigned(32n),
  [TagType.StatusCode]: unsigned(32n),
  [TagType.Int64]: signed(64n),
  [TagType.UInt64]: unsigned(64n),
  [TagType.DateTime]: signed(64n),
};

/**
 * Checks a value before it is encoded, which would make another one of it: NaN of a text, nothing of a number.
 * @throws RangeError It is none of its type.
 */
export function checkValue(name: string, { type, value, isArray }: TagValue): void {
  const elements = (Array.isArray(value) ? value : isArray && value === null ? [] : [value]) as readonly TagScalar[];
  const wrong = elements.findIndex((element) => !isOf(type, element));
  if (wrong >= 0) {
    const typeName = Object.entries(TagType).find(([, number]) => number === type)?.[0] ?? `type ${type}`;
    throw new RangeError(`A value for ${name} is '${elements[wrong]}' (${typeof elements[wrong]}), which is no ${typeName}.`);
  }
}

function isOf(type: number, value: TagScalar): boolean {
  const range = Ranges[type];
  if (range) {
    const is64 = range[1] > 2n ** 32n;
    return (Number.isSafeInteger(value) || (is64 && typeof value === "bigint"))
      && BigInt(value as number | bigint) >= range[0] && BigInt(value as number | bigint) <= range[1];
  }

  switch (type) {
    case TagType.Null:
      return value === null;
    case TagType.Boolean:
      return typeof value === "boolean";
    case TagType.Float:
    case TagType.Double:
      return typeof value === "number";
    case TagType.String:
    case TagType.XmlElement:
      return value === null || typeof value === "string";
    default:
      return value === null || value instanceof Uint8Array;
  }
}
