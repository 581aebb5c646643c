import { Caller } from '../calls.mjs';
import { Connection, describe } from '../connection.mjs';
import { Flag } from '../frames.mjs';
import { Type, decode, encode } from '../messages.mjs';

/** One-way Sink frames of the sizes, one that wants a reply, then the report. */
export async function sink(port, { sizes, last }) {
  const connection = await Connection.connect(port);
  for (const size of sizes) {
    connection.oneWay(Type.Sink, Buffer.alloc(size, 0xa5));
  }

  const reply = await connection.request(Type.Sink, Buffer.alloc(last));
  const report = await connection.request(Type.SinkReport, Buffer.alloc(0));
  await connection.close();
  return { reply: describe(reply), report: decode('SinkReport', report.body), unread: connection.unread.length };
}

/** A Source request and all that comes before its reply. */
export async function source(port, { messages, payloadBytes }) {
  const connection = await Connection.connect(port);
  const seen = { frames: 0, bytes: 0, wrong: 0 };
  connection.onFrame = (frame) => {
    seen.frames += 1;
    seen.bytes += frame.body.length;
    if (frame.type !== Type.Sink || frame.flags !== Flag.OneWay || frame.correlation !== 0 || frame.body.length !== payloadBytes) {
      seen.wrong += 1;
    }
  };
  const reply = await connection.request(Type.Source, encode('Source', { messages, payloadBytes }));
  const atReply = { ...seen };
  await connection.close();
  return { ...atReply, late: seen.frames - atReply.frames, reply: describe(reply) };
}

/** Calls of all three kinds that stream, in windows of a few items; the bodies are Echo messages. */
export async function streamCalls(port, { replies, requests, exchange, count, window }) {
  const connection = await Connection.connect(port);
  const { extensions } = decode('Welcome', (await connection.hello({ extensions: 2 })).body);
  const caller = new Caller(connection, window);
  const texts = (items) => items.map((item) => decode('Echo', item).payload.toString());
  const message = (text) => encode('Echo', { payload: Buffer.from(`${text}`) });
  const numbers = Array.from({ length: count }, (_, i) => message(i));
  const streamed = await caller.call(replies, message(count));
  const sent = await caller.call(requests, numbers, { replies: false });
  const exchanged = await Promise.all([caller.call(exchange, numbers), caller.call(exchange, [])]);
  const refused = await caller.call(replies, message('none'));
  await connection.close();
  return {
    extensions,
    replies: texts(streamed.items),
    repliesEnd: describe(streamed.end),
    sent: texts([sent.end.body])[0],
    exchanged: exchanged.map(({ items }) => texts(items)),
    refused: describe(refused.end),
    unread: connection.unread.length,
  };
}
