// How values of tags are shown, and how a text becomes a value of a tag's type.

import { TagStatus, TagType, dateOf, isBad, isGood, statusName, timeOf } from "./fastport.min.js";

const MAX_ITEMS = 20;
const MAX_CHARACTERS = 400;

const clock = new Intl.DateTimeFormat("sv-SE", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
});

const one = (type, value) => {
  if (value === null) {
    return "null";
  }

  if (type === TagType.DateTime) {
    return time(value);
  }

  return value instanceof Uint8Array
    ? `0x${Array.from(value.subarray(0, MAX_ITEMS), (byte) => byte.toString(16).padStart(2, "0")).join("")}`
      + (value.length > MAX_ITEMS ? `… ${value.length} bytes` : "")
    : String(value).slice(0, MAX_CHARACTERS);
};

export const shown = ({ type, value, isArray }) => {
  if (!isArray || value === null) {
    return one(type, value);
  }

  const rest = value.length > MAX_ITEMS ? `, … ${value.length} in all` : "";
  return `[${value.slice(0, MAX_ITEMS).map((item) => one(type, item)).join(", ")}${rest}]`;
};

export const time = (ticks) => ticks === 0n ? "-" : clock.format(dateOf(ticks)).replace(",", ".");

// The kind of a quality, and its name.
export const quality = (status) => isGood(status)
  ? ["good", status === TagStatus.Good ? "Good" : `Good ${statusName(status)}`]
  : isBad(status) ? ["bad", statusName(status)] : ["uncertain", `Uncertain ${statusName(status)}`];

const whole = (low, high) => (text) => {
  const value = /^[+-]?\d+$/.test(text) ? BigInt(text) : null;
  if (value === null || value < low || value > high) {
    throw new RangeError(`Give a whole number from ${low} to ${high}.`);
  }

  return value;
};

const integer = (bits, signed) => {
  const read = signed ? whole(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n) : whole(0n, 2n ** BigInt(bits) - 1n);
  return bits === 64 ? read : (text) => Number(read(text));
};

const real = (text) => {
  const value = Number(text);
  if (text === "" || Number.isNaN(value)) {
    throw new RangeError("Give a number, such as 12.5.");
  }

  return value;
};

const readers = {
  [TagType.Boolean]: (text) => {
    if (!/^(true|false)$/i.test(text)) {
      throw new RangeError("Give true or false.");
    }

    return text.toLowerCase() === "true";
  },
  [TagType.SByte]: integer(8, true),
  [TagType.Byte]: integer(8, false),
  [TagType.Int16]: integer(16, true),
  [TagType.UInt16]: integer(16, false),
  [TagType.Int32]: integer(32, true),
  [TagType.UInt32]: integer(32, false),
  [TagType.Int64]: integer(64, true),
  [TagType.UInt64]: integer(64, false),
  [TagType.Float]: real,
  [TagType.Double]: real,
  [TagType.String]: (text) => text,
  [TagType.DateTime]: (text) => {
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) {
      throw new RangeError("Give a time, such as 2026-11-30 12:00:00.");
    }

    return timeOf(date);
  },
};

// Whether a text can become a value of the tag. Its server may still refuse it.
export const canWrite = ({ isWritable, rank, type }) => isWritable && rank === -1 && type in readers;

// Throws a RangeError, whose message says what to give.
export const read = (text, type) => ({ type, value: readers[type](type === TagType.String ? text : text.trim()) });
