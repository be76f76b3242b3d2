import { limits } from '../limits.ts';
import { below } from '../path.ts';
import {
  About,
  FullList,
  type Model,
  Nullable,
  ResponseOnly,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { exampleCertificate, examplePrivateKey } from './certificate-example.ts';
import { checkChain, checkNames, checkPrivateKey } from './certificate-text.ts';
import { type ConfigEntry, entryFields } from './config-entry.ts';
import { faultsOf } from './faults.ts';
import type { ConfigKind } from './kind.ts';

const DetailsSchema = Type.Object(
  {
    Subject: About('The holder of the certificate.', Text()),
    Issuer: About('The issuer of the certificate.', Text()),
    Hosts: About('Host names and addresses in the certificate.', FullList(Text())),
    NotBefore: About('When the certificate becomes valid.', Text()),
    NotAfter: About('When the first certificate of the chain expires.', Text()),
    Fingerprint: About('SHA-256 of the certificate.', Text()),
    ChainLength: About('Number of certificates in the text.', Whole()),
  },
  { title: 'CertificateDetails' },
);

const pem = { maxLength: limits.config.pemLengthMax };

const InlineCertificateSchema = Type.Object({
  ...entryFields,
  Certificate: About(
    'The certificate in PEM form, followed by the certificates of its issuers.',
    Text(pem),
    { rules: 'required; each certificate is issued by the next; its host names are valid' },
  ),
  PrivateKey: About(
    'The private key of the certificate in PEM form, stored sealed.',
    Type.String({ default: '', 'x-secret': true, ...pem }),
    { rules: 'required; belongs to the certificate; not encrypted; RSA: at least 2048 bits' },
  ),
  Details: About(
    'The contents of the certificate, which the server sets.',
    ResponseOnly(Nullable(DetailsSchema)),
  ),
  ...stamps,
});
export type InlineCertificate = ConfigEntry & Model<typeof InlineCertificateSchema>;

/** Source: docs/behaviour/configuration.md#certificates. */
export const inlineCertificate: ConfigKind<InlineCertificate> = {
  kind: 'inline-certificate',
  summary: 'A certificate for listeners of API gateways, stored with its key.',
  acts:
    'Certificate and key are checked against each other. `Details` and the gateways that name it ' +
    'report its expiry. No listener serves it: Roster runs no proxies.',
  deletion: {
    usedBy: '`api-gateway` (`Listeners[].TLS.Certificates`)',
    outcome: 'refused while a listener names it',
  },
  schema: InlineCertificateSchema,
  access: 'mesh',
  secret: 'PrivateKey',
  faults: ({ Certificate, PrivateKey }) =>
    faultsOf((report) => {
      const leaf = checkChain(Certificate, below(null, 'Certificate'), report);
      checkNames(leaf, below(null, 'Certificate'), report);
      checkPrivateKey(PrivateKey, leaf, below(null, 'PrivateKey'), report);
    }),
  example: {
    Kind: 'inline-certificate',
    Name: 'shop',
    Certificate: exampleCertificate,
    PrivateKey: examplePrivateKey,
  },
};
