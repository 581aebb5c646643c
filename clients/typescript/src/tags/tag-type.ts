/** The types of values: the built-in types of OPC UA, with their numbers. */
export const TagType = {
  Null: 0,
  Boolean: 1,
  SByte: 2,
  Byte: 3,
  Int16: 4,
  UInt16: 5,
  Int32: 6,
  UInt32: 7,
  Int64: 8,
  UInt64: 9,
  Float: 10,
  Double: 11,
  String: 12,
  DateTime: 13,
  Guid: 14,
  ByteString: 15,
  XmlElement: 16,
  NodeId: 17,
  ExpandedNodeId: 18,
  StatusCode: 19,
  QualifiedName: 20,
  LocalizedText: 21,
  ExtensionObject: 22,
  DataValue: 23,
  Variant: 24,
  DiagnosticInfo: 25,
} as const;

/** The codes that FastPort itself returns; a device's pass through unchanged. */
export const TagStatus = {
  Good: 0,
  BadInternalError: 0x8002_0000,
  BadEncodingLimitsExceeded: 0x8008_0000,
  BadTimeout: 0x800a_0000,
  BadServiceUnsupported: 0x800b_0000,
  BadShutdown: 0x800c_0000,
  BadTooManyOperations: 0x8010_0000,
  BadUserAccessDenied: 0x801f_0000,
  BadNoCommunication: 0x8031_0000,
  BadWaitingForInitialData: 0x8032_0000,
  BadNodeIdUnknown: 0x8034_0000,
  BadIndexRangeInvalid: 0x8036_0000,
  BadIndexRangeNoData: 0x8037_0000,
  BadNotReadable: 0x803a_0000,
  BadNotWritable: 0x803b_0000,
  BadHandleInvalid: 0x8042_0000,
  BadContinuationPointInvalid: 0x804a_0000,
  BadNodeIdExists: 0x805e_0000,
  BadTypeMismatch: 0x8074_0000,
  BadMethodInvalid: 0x8075_0000,
  BadInvalidArgument: 0x80ab_0000,
  BadResponseTooLarge: 0x80b9_0000,
  BadIndexRangeDataMismatch: 0x80ea_0000,
} as const;

/** The name of a code, or its number in hexadecimal. */
export function statusName(status: number): string {
  return Object.entries(TagStatus).find(([, code]) => code === status)?.[0] ?? `0x${status.toString(16).padStart(8, "0")}`;
}

/** Whether a value can be used. */
export function isGood(status: number): boolean {
  return status >>> 30 === 0;
}

/** Whether there is no value that can be used. */
export function isBad(status: number): boolean {
  return status >>> 31 !== 0;
}

const TicksPerMs = 10_000n;
const UnixEpoch = 116_444_736_000_000_000n;

/** A time of a tag, 100 ns since 1601, as a Date. It is cut to milliseconds. */
export function dateOf(time: bigint): Date {
  return new Date(Number((time - UnixEpoch) / TicksPerMs));
}

/** A Date as a time of a tag. */
export function timeOf(date: Date): bigint {
  return BigInt(date.getTime()) * TicksPerMs + UnixEpoch;
}
