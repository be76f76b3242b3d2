import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';

/** TLS settings of the client. All texts are PEM. */
export interface TlsTrust extends TrustedTexts {
  /** Texts that may change, used instead of the others. They are read for each connection. */
  readonly current?: (() => TrustedTexts) | undefined;
  /**
   * For a server in this process: exactly its current certificate is trusted, for any host, and
   * serves as client certificate.
   */
  readonly own?: (() => OwnCertificate) | undefined;
}

export interface TrustedTexts {
  /** The authorities of server certificates; `undefined`: those of the system. */
  readonly caCertificate?: string | undefined;
  /** The client certificate for servers that ask for it, and its key. */
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
}

export interface OwnCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

type Options = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'allowPartialTrustChain' | 'checkServerIdentity'
>;

export function tlsOptions(trust: TlsTrust): Options {
  const { own, current } = trust;
  if (own !== undefined) return optionsForOneself(own());
  const { caCertificate, clientCertificate, clientKey } = current?.() ?? trust;
  return {
    ...(caCertificate !== undefined && { ca: caCertificate }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
  };
}

function optionsForOneself({ certificate, privateKey }: OwnCertificate): Options {
  const { fingerprint256 } = new X509Certificate(certificate);
  return {
    ca: certificate,
    cert: certificate,
    key: privateKey,
    // Trusts the certificate itself, even if its issuer is unknown.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, shown) =>
      shown.fingerprint256 === fingerprint256
        ? undefined
        : new Error('the certificate is not that of this agent'),
  };
}
