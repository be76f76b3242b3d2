/** Tokens and providers for tests of logins. */
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Outbound, OutboundError } from './outbound.ts';

export interface SigningPair {
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly pem: string;
  /** The public key, as a provider publishes it. */
  readonly jwk: JWK;
}
type CryptoKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

export async function signingPair(algorithm: string, kid: string): Promise<SigningPair> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { algorithm, privateKey, pem: await exportSPKI(publicKey), jwk };
}

export const sign = (
  { algorithm, privateKey, jwk }: SigningPair,
  claims: Record<string, unknown>,
  header: { readonly kid?: string; readonly [name: string]: unknown } = {},
): Promise<string> => {
  const kid = header.kid ?? jwk.kid!;
  return new SignJWT(claims)
    .setProtectedHeader({ ...header, alg: algorithm, kid })
    .sign(privateKey);
};

/** A token without a signature, with any header. */
export function forged(header: object, claims: object): string {
  const parts = [header, claims].map((part) => JSON.stringify(part));
  return `${parts.map((part) => Buffer.from(part).toString('base64url')).join('.')}.`;
}

export interface FakeNetwork {
  readonly outbound: Outbound;
  /** All requested URLs, in order. */
  readonly asked: string[];
  /** The answers by address; other addresses cannot be reached. */
  readonly pages: Map<string, { readonly status?: number; readonly body: unknown }>;
}

export function fakeNetwork(pages: Record<string, unknown> = {}): FakeNetwork {
  const network: FakeNetwork = {
    asked: [],
    pages: new Map(Object.entries(pages).map(([url, body]) => [url, { body }])),
    outbound: async ({ url }) => {
      network.asked.push(url);
      const page = network.pages.get(url);
      if (page === undefined) throw new OutboundError(`${url} cannot be reached: ECONNREFUSED`);
      const body = typeof page.body === 'string' ? page.body : JSON.stringify(page.body);
      return { status: page.status ?? 200, headers: {}, body };
    },
  };
  return network;
}
