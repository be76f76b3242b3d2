/** A registry for tests: one image of one layer, over HTTP, with or without credentials. */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json';

export class ImageRegistry {
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** The `user:password` that it demands; empty: none. */
  wanted = '';
  /** Answers wait for this. */
  held: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();
  readonly #manifest: Buffer;

  /** `layer` is a tar of the image's files. */
  constructor(layer: Buffer) {
    const packed = gzipSync(layer, { level: 1 });
    const config = Buffer.from(
      JSON.stringify({
        architecture: 'amd64',
        os: 'linux',
        config: {},
        rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      }),
    );
    const part = (mediaType: string, bytes: Buffer) => {
      this.#blobs.set(digestOf(bytes), bytes);
      return { mediaType, size: bytes.length, digest: digestOf(bytes) };
    };
    this.#manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: manifestType,
        config: part('application/vnd.docker.container.image.v1+json', config),
        layers: [part('application/vnd.docker.image.rootfs.diff.tar.gzip', packed)],
      }),
    );
    this.#server = createServer(async (request, response) => {
      const path = request.url ?? '';
      this.asked.push(path);
      await this.held;
      const given = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64');
      if (this.wanted !== '' && given.toString() !== this.wanted) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="tests"' }).end();
        return;
      }
      const [, kind, name] = /^\/v2\/tiny\/(manifests|blobs)\/(.+)$/.exec(path) ?? [];
      const isManifest =
        kind === 'manifests' && ['1', 'latest', digestOf(this.#manifest)].includes(name!);
      const found = isManifest ? this.#manifest : this.#blobs.get(name ?? '');
      if (path === '/v2/') response.writeHead(200).end('{}');
      else if (found === undefined) {
        const code = kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'NAME_UNKNOWN';
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ errors: [{ code, message: 'manifest unknown' }] }));
      } else {
        const type = isManifest ? manifestType : 'application/octet-stream';
        response.writeHead(200, {
          'content-type': type,
          'content-length': found.length,
          'docker-content-digest': digestOf(found),
        });
        response.end(request.method === 'HEAD' ? undefined : found);
      }
    });
  }

  /** Resolves with its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
