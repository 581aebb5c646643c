// A registry with one image, whose only layer is a tar file: node registry.js LAYER. Prints the port on 127.0.0.1.
'use strict';
const { createHash } = require('node:crypto');
const { createReadStream, statSync } = require('node:fs');
const { createServer } = require('node:http');

const layer = process.argv[2];

async function main() {
  const hash = createHash('sha256');
  for await (const part of createReadStream(layer)) {
    hash.update(part);
  }

  const layerDigest = `sha256:${hash.digest('hex')}`;
  const digest = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    config: { Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'] },
    rootfs: { type: 'layers', diff_ids: [layerDigest] },
    history: [{ created_by: 'debootstrap' }],
  });
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: type,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digest(config), size: config.length },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: layerDigest, size: statSync(layer).size }],
  });

  const server = createServer((request, response) => {
    const send = (contentType, body) => response
      .writeHead(200, { 'Content-Type': contentType, 'Content-Length': body.length, 'Docker-Content-Digest': digest(body) })
      .end(request.method === 'HEAD' ? undefined : body);
    const path = request.url.replace(/\?.*/, '');
    if (path === '/v2/') {
      send('application/json', '{}');
    } else if (path.includes('/manifests/')) {
      send(type, manifest);
    } else if (path.endsWith(digest(config))) {
      send('application/octet-stream', config);
    } else if (path.endsWith(layerDigest)) {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': statSync(layer).size });
      createReadStream(layer).pipe(response);
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

main();
