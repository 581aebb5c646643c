import { Connection, describe } from '../connection.mjs';
import { Flag, encodeFrame } from '../frames.mjs';
import { Type, decode, encode } from '../messages.mjs';

/** Hello, with the fields of a later version where `name` says so, and a Ping. */
export async function hello(port, { name, hello: fields }) {
  const connection = await Connection.connect(port);
  const reply = await connection.hello(fields, name);
  const ping = await connection.request(Type.Ping, Buffer.alloc(0), { flags: Flag.Timing });
  await connection.close();
  return { reply: describe(reply), welcome: decode('Welcome', reply.body), ping: describe(ping) };
}

/** Agrees on the trace extension and sends a request with a trace block; the reply's body is text. */
export async function trace(port, { type, extensions, block }) {
  const connection = await Connection.connect(port);
  const welcome = decode('Welcome', (await connection.hello({ extensions })).body);
  const reply = await connection.request(type, Buffer.from('pump'), { flags: Flag.Trace, trace: block });
  await connection.close();
  return { extensions: welcome.extensions, reply: describe(reply), text: reply.body.toString() };
}

/** A request with the trace and the deadline block, and one that fails with a detail. */
export async function deadline(port, { left, fails, extensions, block, milliseconds }) {
  const connection = await Connection.connect(port);
  const welcome = decode('Welcome', (await connection.hello({ extensions })).body);
  const flags = Flag.Deadline | (block === '' ? 0 : Flag.Trace);
  const reply = await connection.request(left, Buffer.from('pump'), { flags, trace: block, deadline: milliseconds });
  const failed = decode('Error', (await connection.request(fails, Buffer.alloc(0))).body);
  await connection.close();
  return {
    extensions: welcome.extensions,
    reply: describe(reply),
    text: reply.body.toString(),
    detail: failed.detail && { typeUrl: failed.detail.typeUrl, value: failed.detail.value.toString('hex') },
  };
}

/** Two sessions with one routing id: the second is refused, stays open and takes another. */
export async function duplicateIdentity(port) {
  const first = await Connection.connect(port);
  const second = await Connection.connect(port);
  const taken = await first.hello({ routingId: 'machine-é-7' });
  const refused = await second.hello({ routingId: 'machine-é-7' });
  const ping = await second.request(Type.Ping, Buffer.alloc(0));
  const other = await second.hello({ routingId: 'machine-8' });
  await Promise.all([first.close(), second.close()]);
  return {
    taken: describe(taken),
    refused: describe(refused),
    ping: describe(ping),
    sessionIds: [taken, other].map((frame) => decode('Welcome', frame.body).sessionId),
  };
}

/** Requests, then Goodbye: they are answered, then the server ends the connection. */
export async function goodbye(port, { count }) {
  const connection = await Connection.connect(port);
  await connection.hello();
  const body = encode('Echo', { payload: Buffer.alloc(500, 7) });
  const replies = Array.from({ length: count }, () => connection.request(Type.Echo, body));
  await connection.oneWay(Type.Goodbye, encode('Goodbye', { code: 0, reason: 'the shift is over' }));
  const right = (await Promise.all(replies)).filter((reply) => body.equals(reply.body)).length;
  return { right, unread: connection.unread.map(describe), end: await connection.ended, closeCode: connection.closeCode };
}

/** Asks for the end with a one-way message of the type and waits for the server's Goodbye. */
export async function serverGoodbye(port, { type }) {
  const connection = await Connection.connect(port);
  await connection.hello();
  await connection.oneWay(type, Buffer.alloc(0));
  const frame = await connection.next();
  return { frame: describe(frame), goodbye: decode('Goodbye', frame.body), end: await connection.ended };
}

/** Answers the server's Pings until some have come. */
export async function heartbeats(port, { count }) {
  const connection = await Connection.connect(port);
  const welcome = await connection.hello();
  const pings = [];
  while (pings.length < count) {
    const ping = await connection.next();
    pings.push(describe(ping));
    await connection.write(encodeFrame({ type: ping.type, flags: Flag.Reply | (ping.flags & Flag.Timing), correlation: ping.correlation }));
  }

  const alive = await connection.request(Type.Ping, Buffer.alloc(0));
  await connection.close();
  return { heartbeatMs: decode('Welcome', welcome.body).heartbeatMs, pings, alive: describe(alive) };
}

/** A request that never ends by itself, cancelled; the request queued behind it then runs. */
export async function cancel(port, { type }) {
  const connection = await Connection.connect(port);
  const correlation = 4_000_000_000;
  await connection.write(encodeFrame({ type, correlation }));
  const started = await connection.next();
  await connection.oneWay(Type.Cancel, encode('Cancel', { correlation }));
  const behind = await connection.request(Type.Source, encode('Source', { messages: 0, payloadBytes: 0 }));
  await connection.close();
  return { started: describe(started), behind: describe(behind), unread: connection.unread.map(describe) };
}
