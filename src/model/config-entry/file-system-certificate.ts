import { limits } from '../limits.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import { About, type Model, stamps, Text, Type } from '../schema.ts';
import { type ConfigEntry, entryFields } from './config-entry.ts';
import { faultsOf } from './faults.ts';
import type { ConfigKind } from './kind.ts';

const absolute = { rules: 'required; an absolute path' };

const FileSystemCertificateSchema = Type.Object({
  ...entryFields,
  Certificate: About(
    'Path, on the gateway’s host, of the certificate, followed by the certificates of its issuers.',
    Text({ maxLength: limits.files.pathLengthMax }),
    absolute,
  ),
  PrivateKey: About(
    'Path, on the gateway’s host, of the certificate’s key.',
    Text({ maxLength: limits.files.pathLengthMax }),
    absolute,
  ),
  ...stamps,
});
export type FileSystemCertificate = ConfigEntry & Model<typeof FileSystemCertificateSchema>;

/** Source: docs/behaviour/configuration.md#certificates. */
export const fileSystemCertificate: ConfigKind<FileSystemCertificate> = {
  kind: 'file-system-certificate',
  summary: 'A certificate for listeners of API gateways, on the gateway’s host.',
  acts:
    'Gateways that name it report whether it exists. The proxy on the gateway’s host reads the ' +
    'files: Roster runs no proxy and does not open the files.',
  deletion: {
    usedBy: '`api-gateway` (`Listeners[].TLS.Certificates`)',
    outcome: 'refused while a listener names it',
  },
  schema: FileSystemCertificateSchema,
  access: 'mesh',
  faults: ({ Certificate, PrivateKey }) =>
    faultsOf((report) => {
      checkPath(Certificate, below(null, 'Certificate'), report);
      checkPath(PrivateKey, below(null, 'PrivateKey'), report);
      if (Certificate !== '' && Certificate === PrivateKey) {
        report(below(null, 'PrivateKey'), 'must not be the file of the certificate');
      }
    }),
  example: {
    Kind: 'file-system-certificate',
    Name: 'shop-on-disk',
    Certificate: '/etc/gateway/shop.crt',
    PrivateKey: '/etc/gateway/shop.key',
  },
};

/** The error does not repeat a text in PEM form: it may be the key itself. */
function checkPath(text: string, path: Path, report: Report): void {
  if (text === '') report(path, 'is required');
  else if (text.includes('-----BEGIN')) {
    report(path, 'must be the path of a file; its content belongs in an inline-certificate');
  } else if (!text.startsWith('/')) report(path, `must be an absolute path, got ${quote(text)}`);
  else if (text.includes('\0')) report(path, 'must not hold a NUL character');
  else if (text.split('/').includes('..')) report(path, `must not have "..", got ${quote(text)}`);
}
