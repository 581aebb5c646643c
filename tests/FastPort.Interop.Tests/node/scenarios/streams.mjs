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
