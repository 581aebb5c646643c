import { TagType } from "./tag-type.js";

/**
 * One value:
 * - `boolean` of Boolean;
 * - `number` of SByte, Byte, Int16, UInt16, Int32, UInt32, Float, Double and StatusCode;
 * - `bigint` of Int64, UInt64, and of DateTime: 100 ns since 1601 (`dateOf`, `timeOf`);
 * - `string` or null of String and XmlElement;
 * - `Uint8Array` or null of ByteString, and of all other types, in OPC UA Binary.
 */
export type TagScalar = boolean | number | bigint | string | Uint8Array | null;

/** A value with its type. */
export interface TagValue {
  /** One of `TagType`. */
  readonly type: number;
  /** The value, or the elements of an array, or null for no value or no array. */
  readonly value: TagScalar | readonly TagScalar[];
  /** Whether it is an array. Needed only for a null array. */
  readonly isArray?: boolean;
  /** The lengths of an array with two or more dimensions. Its elements are one after the other, those of the last dimension together. */
  readonly dimensions?: readonly number[];
}

/** A value with its quality and times. */
export interface TagSample extends TagValue {
  /** An OPC UA StatusCode, such as one of `TagStatus`. */
  readonly status: number;
  /** 100 ns since 1601; 0 for none. */
  readonly sourceTime: bigint;
  readonly serverTime: bigint;
}

/** A value with its type; one without gets the type given. */
export function typed(value: TagValue | TagScalar | readonly TagScalar[], type: number): TagValue {
  return typeof value === "object" && value !== null && "type" in value ? value : { type, value };
}

/** A sample without a value. */
export function sampleWithout(status: number): TagSample {
  return { type: TagType.Null, value: null, status, sourceTime: 0n, serverTime: 0n };
}
