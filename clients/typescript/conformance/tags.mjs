import { TagType } from "fastport/tags";
import { fromHex, toHex } from "./hex.mjs";

/** A sample as JSON: numbers of 64 bits and times as decimal text, bytes in hexadecimal. */
export function sampleToJson({ type, value, dimensions = null, status, sourceTime, serverTime }) {
  return {
    tagType: type,
    content: Array.isArray(value) ? value.map(toJson) : toJson(value),
    dimensions,
    status,
    sourceTime: String(sourceTime),
    serverTime: String(serverTime),
  };
}

/** The value of JSON. */
export function valueOfJson({ tagType: type, content, dimensions }) {
  const value = Array.isArray(content) ? content.map((one) => ofJson(type, one)) : ofJson(type, content);
  return { type, value, dimensions };
}

function toJson(value) {
  return typeof value === "bigint" ? String(value) : value instanceof Uint8Array ? toHex(value) : value;
}

function ofJson(type, value) {
  switch (type) {
    case TagType.Int64:
    case TagType.UInt64:
    case TagType.DateTime:
      return BigInt(value);
    case TagType.ByteString:
      return fromHex(value);
    default:
      return value;
  }
}
