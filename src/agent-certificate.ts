/** Checks of an agent's own certificate, before it is used. */
import { certificateFaults, endOf, type ServerCertificate } from './api/server-certificate.ts';
import { formatInstant } from './base/instant.ts';
import type { World } from './base/ports.ts';
import { certificateFault } from './model/peering/token.ts';
import type { TrustedTexts } from './sdk/tls-trust.ts';
import type { Log } from './server/context.ts';

/** The authorities of the certificate, or a self-signed certificate itself. */
export const authorityOf = (certificate: ServerCertificate | undefined): string | undefined =>
  certificate && (certificate.authorities ?? certificate.certificate);

export function requireRightAuthority(authority: string | undefined): void {
  const fault = authority === undefined ? undefined : certificateFault(authority);
  if (fault !== undefined) throw new Error(`the authority that peers are to trust: ${fault}`);
}

/** Refuses a faulty certificate. An expired certificate is used, since clients may accept it. */
export function requireRight(
  certificate: ServerCertificate,
  { world, log }: { readonly world: World; readonly log: Log },
): void {
  const faults = certificateFaults(certificate);
  if (faults.length > 0) throw new Error(`TLS cannot be spoken: ${faults.join('; ')}`);
  const end = endOf(certificate);
  if (end > world.clock.nowMs()) return;
  log.warn({ end: formatInstant(end) }, 'the certificate of the server has ended');
}

/** Refuses texts that a node could not reach its servers with. */
export function requireRightTrust(texts: TrustedTexts): void {
  const { caCertificate: authorities, clientCertificate: certificate, clientKey } = texts;
  requireUsable('the servers', { authorities, certificate, privateKey: clientKey });
}

/** Refuses texts that a server could not reach its etcd with. */
export const requireRightForEtcd = (texts: ClientTexts): void => requireUsable('etcd', texts);

/** All in PEM. */
interface ClientTexts {
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly privateKey?: string | undefined;
}

function requireUsable(whom: string, { authorities, certificate, privateKey }: ClientTexts): void {
  const ofAuthority = authorities === undefined ? undefined : certificateFault(authorities);
  const given = { privateKey: privateKey ?? '', verifiesClients: false };
  const faults = [
    ...(ofAuthority === undefined ? [] : [`the authority: ${ofAuthority}`]),
    ...(certificate === undefined ? [] : certificateFaults({ ...given, certificate })),
  ];
  if (faults.length === 0) return;
  throw new Error(`the certificates for ${whom} cannot be used: ${faults.join('; ')}`);
}
