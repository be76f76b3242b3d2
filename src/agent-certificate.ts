/** Checks of an agent's own certificate, before it is used. */
import { certificateFaults, endOf, type ServerCertificate } from './api/server-certificate.ts';
import { formatInstant } from './base/instant.ts';
import type { World } from './base/ports.ts';
import { certificateFault } from './model/peering/token.ts';
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
