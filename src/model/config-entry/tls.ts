/**
 * Versions and cipher suites of TLS in entries of the mesh and of gateways.
 * Source: docs/behaviour/configuration.md#mesh.
 */
import type { Fault } from '../errors.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { About, Choice, List, Type } from '../schema.ts';

const versions = ['TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'] as const;
export type TlsVersion = '' | 'TLS_AUTO' | (typeof versions)[number];

export const TlsVersionChoice = () => Choice(['', 'TLS_AUTO', ...versions]);

/** The versions and suites of a gateway's TLS. */
export const gatewayTlsFields = () => ({
  TLSMinVersion: About('The oldest accepted version.', TlsVersionChoice()),
  TLSMaxVersion: About('The newest accepted version.', TlsVersionChoice(), {
    rules: 'not older than `TLSMinVersion`',
  }),
  CipherSuites: CipherSuites(),
});

/** For TLS up to 1.2: the suites of TLS 1.3 cannot be chosen. */
export const CipherSuites = () =>
  About('The cipher suites up to TLS 1.2; null: the suites of the proxy.', List(Type.String()), {
    rules: 'none where the least version is `TLSv1_3`, which has its own',
  });

const knownSuites: ReadonlySet<string> = new Set(
  ['ECDHE_ECDSA', 'ECDHE_RSA', 'RSA'].flatMap((exchange) => [
    ...['AES_128_GCM_SHA256', 'AES_128_CBC_SHA', 'AES_256_GCM_SHA384', 'AES_256_CBC_SHA'].map(
      (cipher) => `TLS_${exchange}_WITH_${cipher}`,
    ),
    ...(exchange === 'RSA' ? [] : [`TLS_${exchange}_WITH_CHACHA20_POLY1305_SHA256`]),
  ]),
);

export interface TlsBounds {
  readonly least: TlsVersion;
  readonly most: TlsVersion;
  readonly suites: readonly string[] | null;
}

/** `names`: the names of the fields in this entry. */
export function tlsFaults(
  { least, most, suites }: TlsBounds,
  path: Path,
  names = { least: 'TLSMinVersion', most: 'TLSMaxVersion' },
): Fault[] {
  const faults: Fault[] = [];
  const rank = (version: TlsVersion) => versions.indexOf(version as 'TLSv1_0');
  if (rank(least) >= 0 && rank(most) >= 0 && rank(least) > rank(most)) {
    faults.push(faultAt(below(path, names.least), `must not be above ${names.most}, ${most}`));
  }
  if (least === 'TLSv1_3' && suites !== null) {
    const place = below(path, 'CipherSuites');
    faults.push(faultAt(place, `must not be given where ${names.least} is TLSv1_3`));
  }
  (suites ?? []).forEach((suite, index) => {
    if (knownSuites.has(suite)) return;
    faults.push(faultAt(below(path, 'CipherSuites', index), `${quote(suite)} is no known suite`));
  });
  return faults;
}
