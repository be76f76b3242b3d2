/** The reference of a key service: what docs/reference/root-key.md#the-protocol asks of one, on this machine. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [ivBytes, tagBytes] = [12, 16];

export class TestKeyService {
  /** Tokens that may use the keys. */
  readonly tokens = new Set(['kms-token']);
  /** `METHOD path`, and the status of the answer. */
  readonly asked: string[] = [];
  readonly #keys = new Map([['roster', randomBytes(32)]]);
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #port = 0;

  /** Listens, at the same port as before. */
  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(this.#port, '127.0.0.1', done));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((done) => this.#server.close(done));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1/transit`;
  }

  seal(key: string, plaintext: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keys.get(key)!, iv);
    const sealed = [iv, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()];
    return `test:v1:${Buffer.concat(sealed).toString('base64')}`;
  }

  #open(key: string, ciphertext: string): string {
    const bytes = Buffer.from(ciphertext.slice('test:v1:'.length), 'base64');
    const iv = bytes.subarray(0, ivBytes);
    const cipher = createDecipheriv('aes-256-gcm', this.#keys.get(key)!, iv);
    cipher.setAuthTag(bytes.subarray(-tagBytes));
    const opened = [cipher.update(bytes.subarray(ivBytes, -tagBytes)), cipher.final()];
    return Buffer.concat(opened).toString('base64');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, body] = await this.#judgeRequest(request);
    this.asked.push(`${request.method} ${request.url} ${status}`);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #judgeRequest(request: IncomingMessage): Promise<[number, object]> {
    const refused = (status: number, reason: string): [number, object] => [
      status,
      { errors: [reason] },
    ];
    const [, verb, key = ''] = /^\/v1\/transit\/(encrypt|decrypt)\/(.+)$/.exec(request.url!) ?? [];
    const token = request.headers.authorization?.replace('Bearer ', '');
    if (!this.tokens.has(token ?? '')) return refused(403, 'permission denied');
    if (request.method !== 'POST' || !this.#keys.has(key)) return refused(404, 'no such key');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const { plaintext, ciphertext } = JSON.parse(Buffer.concat(chunks).toString());
      const data =
        verb === 'encrypt'
          ? { ciphertext: this.seal(key, plaintext) }
          : { plaintext: this.#open(key, ciphertext) };
      return [200, { data }];
    } catch {
      return refused(400, 'invalid ciphertext');
    }
  }
}
