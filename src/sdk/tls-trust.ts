import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';

/** How servers with `https://` are known, and how they are told who asks. All texts are PEM. */
export interface TlsTrust {
  /** The authorities that their certificates are checked against; `undefined`: the system's. */
  readonly caCertificate?: string | undefined;
  /** What is shown to servers that ask for it, and its key. */
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  /**
   * The server is this very process: nothing but its own certificate, as it is at the moment, is
   * right, whatever hosts it is for; and it is shown to the server, too.
   */
  readonly own?: (() => OwnCertificate) | undefined;
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
  const { caCertificate, clientCertificate, clientKey, own } = trust;
  if (own !== undefined) return optionsForOneself(own());
  return {
    ...(caCertificate !== undefined && { ca: caCertificate }),
    ...(clientCertificate !== undefined && { cert: clientCertificate }),
    ...(clientKey !== undefined && { key: clientKey }),
  };
}

function optionsForOneself({ certificate, privateKey }: OwnCertificate): Options {
  const { fingerprint256 } = new X509Certificate(certificate);
  return {
    ...{ ca: certificate, cert: certificate, key: privateKey },
    // Trust in the certificate itself: who issued it need not be known.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, shown) =>
      shown.fingerprint256 === fingerprint256
        ? undefined
        : new Error('the certificate is not that of this agent'),
  };
}
