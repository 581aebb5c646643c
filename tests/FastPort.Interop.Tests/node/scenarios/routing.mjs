import { Connection, describe } from '../connection.mjs';
import { Flag } from '../frames.mjs';
import { Type, decode, encode } from '../messages.mjs';

async function connect(port, routingId) {
  const connection = await Connection.connect(port);
  await connection.hello({ routingId, clientName: `node ${routingId}` });
  return connection;
}

/** A Relay or Publication as the tests want to see it. */
function envelope(frame, name) {
  const { to, topic, type, body, from } = decode(name, frame.body);
  return { frame: describe(frame), address: to ?? topic, type, body: body.toString('hex'), from };
}

/** Relays that arrive, with a forged sender, one-way, and to nobody. */
export async function relay(port) {
  const first = await connect(port, 'gerät-é');
  const second = await connect(port, 'β');
  const stranger = await Connection.connect(port);
  const big = Buffer.alloc(200_000, 0x5a);
  const small = encode('Relay', { to: 'β', type: 60_000, body: Buffer.from('0102ff', 'hex') });
  const result = {
    reply: describe(await first.request(Type.Relay, small, { flags: Flag.Timing })),
    forged: describe(await first.request(Type.Relay, encode('Relay', { to: 'β', type: 1, body: Buffer.from('00', 'hex'), from: 'boss' }))),
    nameless: describe(await stranger.request(Type.Relay, encode('Relay', { to: 'β', from: 'gerät-é' }))),
    nobody: describe(await first.request(Type.Relay, encode('Relay', { to: 'γ', type: 1 }))),
    malformed: describe(await first.request(Type.Relay, Buffer.from([0x0a, 100]))),
  };
  first.oneWay(Type.Relay, encode('Relay', { to: 'β', type: 2, body: big }));
  first.oneWay(Type.Relay, encode('Relay', { to: 'γ', type: 2, body: big }));
  result.relayed = [];
  for (let i = 0; i < 4; i++) {
    const message = envelope(await second.next(), 'Relay');
    if (message.body === big.toString('hex')) {
      message.body = 'big';
    }

    result.relayed.push(message);
  }

  result.ping = describe(await first.request(Type.Ping, Buffer.alloc(0)));
  await Promise.all([first.close(), second.close(), stranger.close()]);
  result.unread = [...first.unread, ...second.unread, ...stranger.unread].map(describe);
  return result;
}

/** Subscriptions that overlap, publications that match them or do not, and the end of one. */
export async function topics(port) {
  const first = await connect(port, 'first');
  const second = await connect(port, 'second');
  const topic = (connection, type, prefix) => connection.request(type, encode('Topic', { prefix }));
  const publish = async (topicName, type) => {
    const publication = encode('Publication', { topic: topicName, type, body: Buffer.from('ab', 'hex'), from: 'x' });
    return decode('Delivered', (await first.request(Type.Publish, publication)).body).sessions;
  };
  const replies = [
    await topic(second, Type.Subscribe, 'werk/'),
    await topic(second, Type.Subscribe, 'werk/ö'),
    await topic(first, Type.Subscribe, ''),
  ].map(describe);
  const delivered = [await publish('werk/öfen', 1), await publish('lager', 2)];
  replies.push(describe(await topic(second, Type.Unsubscribe, 'werk/')));
  delivered.push(await publish('werk/öfen', 3), await publish('werk/z', 4));
  replies.push(describe(await topic(second, Type.Unsubscribe, 'werk/ö')));
  delivered.push(await publish('werk/öfen', 5));
  const malformed = describe(await first.request(Type.Subscribe, Buffer.from([0x0a, 2, 0xc3, 0x28])));
  await Promise.all([first.close(), second.close()]);
  const seen = (connection) => connection.unread.map((frame) => envelope(frame, 'Publication'));
  return { replies, delivered, malformed, first: seen(first), second: seen(second) };
}

/** The list of peers, whole and in pages. */
export async function peers(port, { ids }) {
  const connections = [];
  for (const id of ids) {
    connections.push(await connect(port, id));
  }

  const list = async (query) => decode('PeerList', (await connections[0].request(Type.Peers, encode('PeersQuery', query))).body).peers;
  const whole = await list({});
  const pages = [];
  const query = { prefix: 'p', limit: 2 };
  for (let page = await list(query); page.length > 0; page = await list({ ...query, after: page.at(-1).routingId })) {
    pages.push(page.map((peer) => peer.routingId));
  }

  await Promise.all(connections.map((connection) => connection.close()));
  return { whole, pages };
}

/** Sends back what is relayed to it, to whoever it came from. */
export async function relayBack(port, { count }) {
  const connection = await connect(port, 'node');
  const senders = new Set();
  for (let i = 0; i < count; i++) {
    const message = decode('Relay', (await connection.next()).body);
    senders.add(message.from);
    await connection.request(Type.Relay, encode('Relay', { to: message.from, type: message.type + 1, body: message.body }));
  }

  await connection.close();
  return { senders: Array.from(senders) };
}
