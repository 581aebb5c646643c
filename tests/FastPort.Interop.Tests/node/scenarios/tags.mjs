import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { Connection } from '../connection.mjs';
import { Flag, encodeFrame } from '../frames.mjs';

// Nothing of FastPort but its .proto file.
const proto = fileURLToPath(new URL('../../../../src/FastPort.Tags/Messages/tags.proto', import.meta.url));
const root = protobuf.loadSync(proto);
const Type = Object.freeze({
  Resolve: 0x0200, Read: 0x0201, Write: 0x0202, Subscribe: 0x0203, Unsubscribe: 0x0204, Update: 0x0205, Acknowledge: 0x0206,
  Browse: 0x0207, Call: 0x0208, Declare: 0x0210, Push: 0x0211,
});

const encode = (name, value) => {
  const type = root.lookupType(`fastport.${name}`);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
};
const decode = (name, body) => {
  const type = root.lookupType(`fastport.${name}`);
  return type.toObject(type.decode(body), { longs: String, defaults: true });
};

// Rows take from the column of their type, in order.
const columns = {
  1: 'bools', 2: 'ints', 3: 'uints', 4: 'ints', 5: 'uints', 6: 'ints', 7: 'uints', 8: 'longs', 9: 'ulongs', 10: 'floats', 11: 'doubles',
  13: 'longs', 19: 'uints',
};

/** Samples as rows. */
function rows(samples) {
  const taken = {};
  const take = (column) => {
    taken[column] = (taken[column] ?? 0) + 1;
    return samples[column][taken[column] - 1];
  };
  let offset = 0;
  const one = (type) => {
    if (columns[type]) return take(columns[type]);
    const size = take('sizes');
    if (size < 0) return null;
    offset += size;
    const bytes = Buffer.from(samples.data.subarray(offset - size, offset));
    return type === 12 || type === 16 ? bytes.toString('utf8') : bytes.toString('hex');
  };
  const spread = (column, i, none) => (column.length === 0 ? none : column[Math.min(i, column.length - 1)]);
  return Array.from({ length: samples.count }, (_, i) => {
    const encoding = samples.types.length === 0 ? 0 : samples.types[Math.min(i, samples.types.length - 1)];
    const type = encoding & 0x3f;
    let value = null;
    if (encoding & 0x80) {
      const length = take('lengths');
      value = length < 0 ? null : Array.from({ length }, () => one(type));
    } else if (type !== 0) {
      value = one(type);
    }

    return {
      type, value, status: spread(samples.statuses, i, 0), hasTime: spread(samples.sourceTimes, i, '0') !== '0',
    };
  });
}

const asking = (connection) => async (type, request, body, reply) => {
  const frame = await connection.request(type, encode(request, body));
  if (frame.flags & Flag.Error) throw new Error(`0x${type.toString(16)} was answered with an error: ${frame.body.toString('hex')}`);
  return decode(reply, frame.body);
};

/** Resolves, reads, writes, subscribes, browses and calls. */
export async function tags(port) {
  const connection = await Connection.connect(port);
  const ask = asking(connection);
  await connection.hello();

  const names = ['plant/speed', 'plant/state', 'plant/limits', 'plant/count', 'plant/nothing'];
  const resolved = (await ask(Type.Resolve, 'ResolveTags', { names }, 'ResolvedTags')).tags;
  const handles = resolved.slice(0, 4).map((tag) => tag.handle);
  const read = rows(await ask(Type.Read, 'ReadTags', { handles }, 'TagSamples'));

  // A Double, a text and a list of Int32; then a text for a Double.
  const written = await ask(Type.Write, 'WriteTags', {
    handles: handles.slice(0, 3),
    samples: {
      count: 3, types: Buffer.from([11, 12, 0x86]),
      doubles: [2.5], sizes: [6], data: Buffer.from('grün!', 'utf8'), lengths: [2], ints: [-7, 8],
    },
  }, 'WrittenTags');
  const refused = await ask(Type.Write, 'WriteTags', {
    handles: handles.slice(0, 1), samples: { count: 1, types: Buffer.from([12]), sizes: [1], data: Buffer.from('x') },
  }, 'WrittenTags');
  const again = rows(await ask(Type.Read, 'ReadTags', { handles, maxAgeMs: 60000 }, 'TagSamples'));

  const subscribed = await ask(Type.Subscribe, 'SubscribeTags', { handles, intervalMs: 10, queueSize: 1 }, 'SubscribedTags');
  const updates = [];
  const changes = () => updates.flatMap((update) => rows(update.samples).map((row, i) => [update.handles[i], row.value]));
  const receive = async () => {
    const frame = await connection.next();
    const update = decode('TagUpdate', frame.body);
    updates.push(update);
    await connection.oneWay(Type.Acknowledge, encode('AcknowledgeUpdates', { subscription: update.subscription, number: update.number }));
    return frame.type;
  };
  while (new Set(changes().map(([handle]) => handle)).size < 4) await receive();
  await ask(Type.Write, 'WriteTags', {
    handles: [handles[0]], samples: { count: 1, types: Buffer.from([11]), doubles: [9.5] },
  }, 'WrittenTags');
  while (!changes().some(([handle, value]) => handle === handles[0] && value === 9.5)) await receive();
  await connection.request(Type.Unsubscribe, encode('UnsubscribeTags', { subscription: subscribed.subscription }));

  const nodes = [];
  let cursor = Buffer.alloc(0);
  do {
    const page = await ask(Type.Browse, 'BrowseTags', { path: 'plant', limit: 2, cursor }, 'BrowsedTags');
    nodes.push(...page.nodes.map((node) => node.name));
    cursor = page.cursor;
  } while (cursor.length > 0);

  const called = await ask(Type.Call, 'CallMethod', {
    name: 'plant/add', inputs: { count: 2, types: Buffer.from([6]), ints: [2, 3] },
  }, 'MethodResult');
  await connection.close();
  return {
    statuses: resolved.map((tag) => tag.status),
    types: resolved.map((tag) => tag.type),
    read,
    written: written.statuses,
    refused: refused.statuses,
    again,
    numbers: updates.map((update) => Number(update.number)),
    nodes,
    sum: rows(called.outputs)[0].value,
  };
}

/** Publishes three tags, does what two writes ask, and goes. */
export async function publish(port) {
  const connection = await Connection.connect(port);
  const ask = asking(connection);
  await connection.hello({ routingId: 'press-4' });
  const declared = await ask(Type.Declare, 'DeclareTags', {
    tags: [
      { name: 'press/speed', type: 11, rank: -1, access: 3, unit: '1/min', hasRange: true, low: 0, high: 90 },
      { name: 'press/state', type: 12, rank: -1, access: 1 },
      { name: 'press/table', type: 6, rank: 1, access: 3, description: 'counts' },
      { name: 'press//', type: 6, rank: -1, access: 1 },
    ],
  }, 'DeclaredTags');
  const [speed, state, table] = declared.handles;
  const pushed = await ask(Type.Push, 'PushTags', {
    handles: [speed, state, table],
    samples: {
      count: 3, types: Buffer.from([11, 12, 0x86]),
      doubles: [12.5], sizes: [7], data: Buffer.from('l\u00e4uft!', 'utf8'), lengths: [2], ints: [1, 2],
    },
  }, 'WrittenTags');

  // The first write is taken, and its value pushed; the second is refused.
  const writes = [];
  while (writes.length < 2) {
    const frame = await connection.next();
    if (frame.type !== Type.Write) continue;
    const write = decode('WriteTags', frame.body);
    const value = rows(write.samples)[0].value;
    writes.push({ tag: declared.handles.indexOf(write.handles[0]), value });
    const isTaken = write.handles[0] === speed;
    if (isTaken) {
      await connection.oneWay(Type.Push, encode('PushTags', {
        handles: [speed], samples: { count: 1, types: Buffer.from([11]), doubles: [value] },
      }));
    }

    const body = encode('WrittenTags', { statuses: isTaken ? [] : [0x803c0000] });
    await connection.write(encodeFrame({ type: Type.Write, flags: Flag.Reply, correlation: frame.correlation, body }));
  }

  await connection.close();
  return { statuses: declared.statuses, pushed: pushed.statuses, writes };
}
