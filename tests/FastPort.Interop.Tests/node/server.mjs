// node server.mjs [<options as JSON>]: serves until its input ends, then writes what it saw as JSON. Its first line is {"port": n}.
import net from 'node:net';
import { Answerer } from './calls.mjs';
import { Connection, describe } from './connection.mjs';
import { Flag, encodeFrame } from './frames.mjs';
import { Type, decode, encode } from './messages.mjs';

/** Types of this peer's own, which the tests steer it with. */
const Own = Object.freeze({ PushMe: 0x1000, Pushed: 0x1001, Fail: 0x1002, Ignore: 0x1003, Mirror: 0x1004, Exchange: 0x1005 });

const options = {
  welcomeType: 'Welcome',
  welcome: { sessionId: 1, serverName: 'node', maxFrameBytes: 1 << 20, heartbeatMs: 0 },
  bytewise: false, // every reply in writes of one byte
  reverse: 0, // hold this many Echo requests, then answer the last one first
  goodbyeAfterEcho: false, // on the first connection only
  peers: [], // what Peers answers
  detail: null, // of errors: { typeUrl, value }, the value in base64
  window: { messages: 5, bytes: 1000 }, // of a stream's requests
  ...JSON.parse(process.argv[2] ?? '{}'),
};
const report = {
  connections: 0, hellos: [], echoes: [], cancels: [], goodbyes: [], mirrored: [], relays: [], topics: [], queries: [], ends: [],
};
const open = new Set();

const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  report.connections += 1;
  const peer = new ServedPeer(new Connection(socket), report.connections);
  open.add(peer.connection);
  peer.connection.ended.then((end) => {
    open.delete(peer.connection);
    report.ends.push(end);
  });
});

class ServedPeer {
  #held = [];
  #prefixes = new Set();
  #writing = Promise.resolve();

  constructor(connection, number) {
    this.connection = connection;
    this.number = number;
    connection.onFrame = (frame) => this.#serve(frame);
    this.answerer = new Answerer((bytes) => this.#write(bytes), options.window);
  }

  #serve(frame) {
    switch (frame.type) {
      case Type.Hello:
        report.hellos.push({ frame: describe(frame), body: frame.body.toString('hex'), hello: decode('Hello', frame.body) });
        this.#reply(frame, encode(options.welcomeType, options.welcome));
        break;
      case Type.Ping:
        this.#reply(frame, Buffer.alloc(0));
        break;
      case Type.Goodbye:
        report.goodbyes.push(decode('Goodbye', frame.body));
        break;
      case Type.Cancel:
        report.cancels.push(decode('Cancel', frame.body).correlation);
        this.answerer.cancel(decode('Cancel', frame.body).correlation);
        break;
      case Type.Credit:
      case Own.Exchange:
        this.answerer.take(frame);
        break;
      case Type.Echo:
        this.#echo(frame);
        break;
      case Own.PushMe:
        this.#write(encodeFrame({
          type: Own.Pushed, flags: Flag.OneWay, body: encode('Echo', { payload: Buffer.from('pushed by node') }),
        }));
        break;
      case Own.Fail:
        this.#reply(frame, encode('Error', { code: 12, message: 'There is no tag ‘Höhe’ here.', detail: options.detail }), Flag.Error);
        break;
      case Own.Mirror:
        this.#mirror(frame);
        break;
      case Type.Relay:
        this.#relay(frame);
        break;
      case Type.Subscribe:
      case Type.Unsubscribe:
        this.#subscribe(frame);
        break;
      case Type.Publish:
        this.#publish(frame);
        break;
      case Type.Peers:
        report.queries.push(decode('PeersQuery', frame.body));
        this.#reply(frame, encode('PeerList', { peers: options.peers }));
        break;
    }
  }

  #echo(frame) {
    this.#held.push(frame);
    if (this.#held.length < options.reverse) {
      return;
    }

    for (const request of this.#held.splice(0).reverse()) {
      this.#reply(request, encode('Echo', { payload: decode('Echo', request.body).payload }));
    }

    if (options.goodbyeAfterEcho && this.number === 1) {
      this.#write(encodeFrame({
        type: Type.Goodbye, flags: Flag.OneWay, body: encode('Goodbye', { code: 10, reason: 'node is stopping' }),
      }));
    }
  }

  /** Asks the client a request of its own with the same body and correlation 1, before the answer. */
  async #mirror(frame) {
    const answer = await this.connection.request(Own.Mirror, frame.body, { flags: Flag.Timing });
    report.mirrored.push({ frame: describe(answer), equal: frame.body.equals(answer.body) });
    this.#reply(frame, answer.body);
  }

  /** Every routing id but one is the client itself. */
  #relay(frame) {
    const relay = decode('Relay', frame.body);
    report.relays.push({ ...relay, body: relay.body.toString('hex') });
    if (relay.to === 'nobody') {
      this.#reply(frame, encode('Error', { code: 12, message: 'Nobody is called that.' }), Flag.Error);
      return;
    }

    this.#write(encodeFrame({ type: Type.Relay, flags: Flag.OneWay, body: encode('Relay', { ...relay, from: 'nœud' }) }));
    if ((frame.flags & Flag.OneWay) === 0) {
      this.#reply(frame, Buffer.alloc(0));
    }
  }

  #subscribe(frame) {
    const { prefix } = decode('Topic', frame.body);
    report.topics.push(`${frame.type === Type.Subscribe ? '+' : '-'}${prefix} on ${this.number}`);
    if (frame.type === Type.Subscribe) {
      this.#prefixes.add(prefix);
    } else {
      this.#prefixes.delete(prefix);
    }

    this.#reply(frame, Buffer.alloc(0));
  }

  #publish(frame) {
    const publication = decode('Publication', frame.body);
    const matches = Array.from(this.#prefixes).some((prefix) => publication.topic.startsWith(prefix));
    if (matches) {
      this.#write(encodeFrame({ type: Type.Publish, flags: Flag.OneWay, body: encode('Publication', { ...publication, from: '' }) }));
    }

    this.#reply(frame, encode('Delivered', { sessions: matches ? 1 : 0 }));
  }

  #reply(request, body, flags = 0) {
    const wantsTiming = (request.flags & Flag.Timing) !== 0;
    const timing = wantsTiming ? { received: request.arrived, sent: process.hrtime.bigint() } : null;
    const reply = {
      type: request.type,
      flags: Flag.Reply | flags | (wantsTiming ? Flag.Timing : 0),
      correlation: request.correlation,
      timing,
      body,
    };
    if (request.type === Type.Echo) {
      report.echoes.push({
        correlation: request.correlation,
        trace: request.trace,
        deadline: request.deadline,
        received: timing?.received.toString() ?? null,
        sent: timing?.sent.toString() ?? null,
      });
    }

    this.#write(encodeFrame(reply));
  }

  #write(bytes) {
    const parts = options.bytewise ? Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)) : [bytes];
    this.#writing = this.#writing.then(() => this.connection.writeParts(parts));
  }
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
process.stdin.resume();
process.stdin.on('end', async () => {
  server.close();
  await Promise.all(Array.from(open, (connection) => connection.close()));
  process.stdout.write(JSON.stringify(report));
});
