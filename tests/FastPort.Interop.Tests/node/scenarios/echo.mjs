import { Connection, describe } from '../connection.mjs';
import { Flag, encodeFrame } from '../frames.mjs';
import { Type, decode, encode } from '../messages.mjs';

/** Bytes that differ from place to place and from size to size. */
function pattern(size) {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) {
    bytes[i] = (i * 31 + (i >> 8) + size) & 0xff;
  }

  return bytes;
}

const isEchoOf = (frame, payload) => frame.type === Type.Echo && payload.equals(decode('Echo', frame.body).payload);

/** Echoes of the sizes, one after the other, with the timing block. */
export async function echoSizes(port, { sizes }) {
  const connection = await Connection.connect(port);
  const echoes = [];
  for (const size of sizes) {
    const payload = pattern(size);
    const body = encode('Echo', { payload });
    const started = process.hrtime.bigint();
    const reply = await connection.request(Type.Echo, body, { flags: Flag.Timing });
    echoes.push({ size, equal: isEchoOf(reply, payload), roundTrip: (reply.arrived - started).toString(), frame: describe(reply) });
  }

  await connection.close();
  return { echoes, extensions: connection.extensions };
}

/** Three frames in two writes, cut at every byte in turn; then every byte in a write of its own. */
export async function echoCuts(port) {
  const connection = await Connection.connect(port);
  const payload = pattern(20);
  const results = [];
  const frames = () => {
    const correlations = [connection.nextCorrelation(), connection.nextCorrelation(), connection.nextCorrelation()];
    const bytes = Buffer.concat([
      encodeFrame({ type: Type.Echo, flags: Flag.Timing, correlation: correlations[0], body: encode('Echo', { payload }) }),
      encodeFrame({ type: Type.Ping, correlation: correlations[1] }),
      encodeFrame({ type: Type.Echo, correlation: correlations[2], body: encode('Echo', { payload }) }),
    ]);
    return { bytes, replies: correlations.map((c) => connection.reply(c)) };
  };
  const play = async (cut) => {
    const { bytes, replies } = frames();
    await connection.writeParts(cut(bytes));
    const [first, ping, last] = await Promise.all(replies);
    results.push(isEchoOf(first, payload) && first.timing !== null && ping.body.length === 0 && isEchoOf(last, payload));
  };

  const total = 3 * 12 + 2 * encode('Echo', { payload }).length;
  for (let at = 1; at < total; at++) {
    await play((bytes) => [bytes.subarray(0, at), bytes.subarray(at)]);
  }

  await play((bytes) => Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)));
  await connection.close();
  return { total, played: results.length, right: results.filter((r) => r).length, unread: connection.unread.length };
}

/** Many requests in one write, with correlations of the requester's own choosing; each reply must be the one to its request. */
export async function echoPipelined(port, { count }) {
  const connection = await Connection.connect(port);
  const requests = [];
  for (let i = 0; i < count; i++) {
    // From the largest downwards, in strides: no order that a server could have thought of.
    const correlation = (0xffffffff - i * 7919) >>> 0;
    const payload = i % 5 === 0 ? null : pattern(i % 700);
    requests.push({ correlation, payload, reply: connection.reply(correlation) });
  }

  await connection.write(Buffer.concat(requests.map(({ correlation, payload }) => payload === null
    ? encodeFrame({ type: Type.Ping, correlation })
    : encodeFrame({ type: Type.Echo, correlation, body: encode('Echo', { payload }) }))));
  const replies = await Promise.all(requests.map((r) => r.reply));
  const right = replies.filter((reply, i) => requests[i].payload === null
    ? reply.type === Type.Ping && reply.body.length === 0
    : isEchoOf(reply, requests[i].payload));
  await connection.close();
  return { right: right.length, unread: connection.unread.length };
}

/** Requests, then the end of the stream: they are answered, then the connection ends. */
export async function echoThenEnd(port, { count }) {
  const connection = await Connection.connect(port);
  const payload = pattern(1000);
  const replies = Array.from({ length: count }, () => connection.request(Type.Echo, encode('Echo', { payload })));
  connection.endSending();
  const right = (await Promise.all(replies)).filter((reply) => isEchoOf(reply, payload)).length;
  return { right, end: await connection.ended };
}
