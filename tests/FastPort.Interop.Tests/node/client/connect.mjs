import net from 'node:net';
import tls from 'node:tls';
import WebSocket, { createWebSocketStream } from 'ws';

/** Connects to an endpoint: tcp, tls, unix, ws or wss. `ca` is the certificate of the authority to trust. */
export function connect(endpoint, ca, signal) {
  const { protocol, hostname: host, port, pathname } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const socket = {
      'tcp:': () => net.connect({ host, port, allowHalfOpen: true, noDelay: true }),
      'tls:': () => tls.connect({ host, port, ca, allowHalfOpen: true, noDelay: true }),
      'unix:': () => net.connect({ path: pathname, allowHalfOpen: true }),
      'ws:': () => webSocket(endpoint, ca),
      'wss:': () => webSocket(endpoint, ca),
    }[protocol]();
    const opened = { 'tls:': 'secureConnect', 'ws:': 'open', 'wss:': 'open' }[protocol] ?? 'connect';
    signal.addEventListener('abort', () => socket.destroy(signal.reason));
    socket.once('error', reject);
    socket.once(opened, () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

// The messages of each direction are the stream; the peer's Close is its end.
function webSocket(endpoint, ca) {
  const socket = new WebSocket(endpoint, 'fastport.v1', { ca });
  const stream = createWebSocketStream(socket);
  socket.once('open', () => stream.emit('open'));
  return stream;
}
