import { Connection, describe } from '../connection.mjs';
import { Flag, encodeFrame } from '../frames.mjs';
import { Type, encode } from '../messages.mjs';

/** A tag of field 1, 100 bytes long, and nothing behind it. */
const NoMessage = Buffer.from([0x0a, 100]);
const UnknownType = 0x7abc;

/** Requests that fail and leave the connection open, and a Ping behind them. */
export async function openErrors(port) {
  const connection = await Connection.connect(port);
  await connection.hello({ clientName: 'first' });
  const result = {
    unknownType: describe(await connection.request(UnknownType, Buffer.from('what is this'))),
    unknownTypeTimed: describe(await connection.request(UnknownType, Buffer.alloc(0), { flags: Flag.Timing })),
    malformedEcho: describe(await connection.request(Type.Echo, NoMessage)),
    malformedSource: describe(await connection.request(Type.Source, NoMessage)),
    secondHello: describe(await connection.hello({ clientName: 'second' })),
    ping: describe(await connection.request(Type.Ping, Buffer.alloc(0))),
  };
  await connection.close();
  return result;
}

/** A Hello that does not parse; the session is as before, so a good one is welcome. */
export async function malformedHello(port) {
  const connection = await Connection.connect(port);
  const refused = await connection.request(Type.Hello, NoMessage);
  const badText = await connection.request(Type.Hello, Buffer.from([0x0a, 2, 0xc3, 0x28]));
  const welcome = await connection.hello();
  await connection.close();
  return { refused: describe(refused), badText: describe(badText), welcome: describe(welcome) };
}

/** The same mistakes one-way: the only frame to come back is the reply to the Ping behind them. */
export async function oneWayErrors(port) {
  const connection = await Connection.connect(port);
  await connection.hello();
  connection.oneWay(UnknownType, Buffer.from('what is this'));
  connection.oneWay(Type.Echo, NoMessage);
  connection.oneWay(Type.Echo, encode('Echo', { payload: Buffer.from('nobody wants this back') }));
  connection.oneWay(Type.Hello, encode('Hello', { clientName: 'second' }));
  const ping = await connection.request(Type.Ping, Buffer.alloc(0));
  await connection.close();
  return { ping: describe(ping), unread: connection.unread.map(describe) };
}

/** Bytes that end the connection, behind an Echo and before bytes that are not read any more. */
export async function fatal(port, { kind, limit }) {
  const correlation = 77;
  const bytes = {
    length: () => Buffer.from([7, 0, 0, 0]),
    version: () => encodeFrame({ type: Type.Echo, version: 2, correlation }),
    flag: () => encodeFrame({ type: Type.Echo, flags: 0x10, correlation }),
    error: () => encodeFrame({ type: Type.Echo, flags: Flag.Error, correlation }),
    correlation: () => encodeFrame({ type: Type.Echo, correlation: 0 }),
    timing: () => encodeFrame({ type: Type.Echo, flags: Flag.Reply | Flag.Timing, correlation, body: Buffer.alloc(15) }),
    tooLarge: () => encodeFrame({ type: Type.Echo, correlation, length: limit + 1 }),
    tooLargeFrom4Bytes: () => encodeFrame({ type: Type.Echo, correlation, length: limit + 1 }).subarray(0, 4),
  }[kind]();
  const connection = await Connection.connect(port);
  const echo = await connection.request(Type.Echo, encode('Echo', { payload: Buffer.from('still well') }));
  await connection.write(bytes);
  const frame = await connection.next();
  if (kind !== 'length' && kind !== 'tooLargeFrom4Bytes') {
    // Must not turn the end into a reset.
    connection.write(Buffer.alloc(100_000));
  }

  const end = await connection.ended;
  return { echo: describe(echo), frame: describe(frame), unread: connection.unread.length, end };
}

/** As `fatal`, with all that follows sent before the error frame can have come. */
export async function fatalWithUnreadInput(port, { bytes }) {
  const connection = await Connection.connect(port);
  connection.write(Buffer.concat([encodeFrame({ type: Type.Echo, version: 9, correlation: 1 }), Buffer.alloc(bytes)]));
  const frame = await connection.next();
  return { frame: describe(frame), unread: connection.unread.length, end: await connection.ended };
}
