import { jsonObject, type Outbound, OutboundError } from '../login/outbound.ts';

/** A service that keeps a key, and opens what was sealed under it. */
export interface KeyService {
  /** `https://host:port/path`, without a slash at its end. */
  readonly url: string;
  /** The name of its key. */
  readonly key: string;
  /** The root key as the service sealed it. */
  readonly wrappedKey: string;
  /** Read before each try, since tokens are renewed. */
  readonly token: () => Promise<string>;
  /** PEM of the authorities to trust; empty: those of the system. */
  readonly caCertificate: string;
}

/**
 * Has the service open the root key, and returns it in base64. Its errors hold no secret.
 * Source: docs/reference/root-key.md#the-protocol.
 * @throws OutboundError
 */
export async function unwrapRootKey(outbound: Outbound, service: KeyService): Promise<string> {
  const url = `${service.url}/decrypt/${encodeURIComponent(service.key)}`;
  const answer = await outbound({
    method: 'POST',
    url,
    headers: {
      authorization: `Bearer ${await service.token()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ ciphertext: service.wrappedKey }),
    caCertificate: service.caCertificate,
  });
  if (answer.status !== 200) {
    throw new OutboundError(`${url} answered with the status ${answer.status}`);
  }
  const { data } = jsonObject(url, answer.body);
  const { plaintext } = (data ?? {}) as { readonly plaintext?: unknown };
  if (typeof plaintext === 'string') return plaintext;
  throw new OutboundError(`${url} answered without data.plaintext`);
}
