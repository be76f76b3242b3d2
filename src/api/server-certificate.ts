/** TLS settings of the server. */
import { X509Certificate } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import { checkChain, checkPrivateKey } from '../model/config-entry/certificate-text.ts';
import { faultsOf } from '../model/config-entry/faults.ts';
import { limits } from '../model/limits.ts';
import { below } from '../model/path.ts';

/** All texts are PEM. */
export interface ServerCertificate {
  /** The certificate, followed by its issuers. */
  readonly certificate: string;
  readonly privateKey: string;
  /** The authorities of client certificates. */
  readonly authorities?: string | undefined;
  /** Refuse clients without a certificate of these authorities. */
  readonly verifiesClients: boolean;
}

/** All faults of the settings. Each sentence begins with the field's name. */
export function certificateFaults(given: ServerCertificate): readonly string[] {
  const { certificate, privateKey, authorities, verifiesClients } = given;
  const faults = faultsOf((report) => {
    const leaf = checkChain(certificate, below(null, 'certificate'), report);
    checkPrivateKey(privateKey, leaf, below(null, 'privateKey'), report);
    const place = below(null, 'authorities');
    if (authorities === undefined) {
      if (verifiesClients) report(place, 'are required to check the certificates of clients');
    } else if (!areCertificates(authorities)) report(place, 'must be certificates in PEM form');
  });
  return faults.map(({ message }) => message);
}

/** Authorities are independent of each other and of their order. */
function areCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block) !== undefined);
  } catch {
    return false;
  }
}

/** The expiry of the certificate in Unix milliseconds. */
export const endOf = ({ certificate }: Pick<ServerCertificate, 'certificate'>): number =>
  new X509Certificate(certificate).validToDate.getTime();

export const fingerprintOf = ({ certificate }: Pick<ServerCertificate, 'certificate'>): string =>
  new X509Certificate(certificate).fingerprint256;

export const contextOf = ({ certificate, privateKey, authorities }: ServerCertificate) => ({
  cert: certificate,
  key: privateKey,
  minVersion: 'TLSv1.2' as const,
  ...(authorities !== undefined && { ca: authorities }),
});

/**
 * The client's certificate is requested by TLS and checked later, so that the refusal can give a
 * reason.
 */
export const tlsOptionsOf = (given: ServerCertificate): TlsOptions => ({
  ...contextOf(given),
  requestCert: given.verifiesClients,
  rejectUnauthorized: false,
  handshakeTimeout: limits.http.headersTimeoutMs,
});
