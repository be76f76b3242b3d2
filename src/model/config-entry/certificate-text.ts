/**
 * Reads certificates and keys in PEM form, and tells their faults. No message repeats a key.
 * Source: docs/behaviour/configuration.md#certificates.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { formatInstant } from '../../base/instant.ts';
import { limits } from '../limits.ts';
import { type Path, quote, type Report } from '../path.ts';
import { hiddenSecret } from './hidden-secret.ts';
import { isHostnameOrWildcard } from './hostname.ts';

/**
 * A block contains no row of five dashes, so matching a block without an end costs no more than its length.
 */
const blockForm = /-----BEGIN ([A-Z0-9 ]+)-----(?:(?!-----)[\s\S])*-----END \1-----/g;

interface Block {
  readonly label: string;
  readonly text: string;
}

/** The blocks of the text. Text between blocks is for people (RFC 7468 §2). */
const blocksOf = (text: string): Block[] =>
  [...text.matchAll(blockForm)].map(([block, label]) => ({ label: label!, text: block }));

/** The details of a chain of certificates that readers want to see. */
export interface CertificateDetails {
  readonly Subject: string;
  readonly Issuer: string;
  /** Host names and addresses in the first certificate. */
  readonly Hosts: readonly string[];
  /** RFC 3339. */
  readonly NotBefore: string;
  /** RFC 3339. The first end in the chain. */
  readonly NotAfter: string;
  /** SHA-256. */
  readonly Fingerprint: string;
  readonly ChainLength: number;
}

/** `undefined` for a text that is not a chain of certificates. */
export function detailsOf(text: string): CertificateDetails | undefined {
  const chain = readChain(text);
  const [leaf] = chain;
  if (leaf === undefined || typeof leaf === 'string') return undefined;
  const certificates = chain.filter((one) => typeof one !== 'string');
  return {
    Subject: oneLine(leaf.subject),
    Issuer: oneLine(leaf.issuer),
    Hosts: namesOf(leaf)
      .slice(0, limits.config.itemsMax)
      .map(({ name }) => name),
    NotBefore: formatInstant(Math.max(...certificates.map((one) => one.validFromDate.getTime()))),
    NotAfter: formatInstant(Math.min(...certificates.map((one) => one.validToDate.getTime()))),
    Fingerprint: leaf.fingerprint256,
    ChainLength: certificates.length,
  };
}

const oneLine = (name: string | undefined): string => (name ?? '').replaceAll('\n', ', ');

/** The certificates in order; a faulty one is replaced by a sentence that tells its fault. */
function readChain(text: string): (X509Certificate | string)[] {
  return blocksOf(text)
    .slice(0, limits.config.chainLengthMax)
    .map((block) => {
      if (block.label !== 'CERTIFICATE') return `is a ${block.label}, and no certificate`;
      try {
        return new X509Certificate(block.text);
      } catch {
        return 'cannot be read as a certificate';
      }
    });
}

/** Reports the faults of the chain; returns its first certificate if that can be read. */
export function checkChain(text: string, path: Path, report: Report): X509Certificate | undefined {
  const { chainLengthMax } = limits.config;
  const count = blocksOf(text).length;
  if (text.trim() === '') report(path, 'is required');
  else if (count === 0) report(path, 'must be a certificate in PEM form');
  if (count > chainLengthMax) {
    report(path, `must hold at most ${chainLengthMax} certificates, has ${count}`);
  }
  const chain = readChain(text);
  chain.forEach((one, index) => {
    const nth = `certificate ${index + 1} of ${chain.length}`;
    if (typeof one === 'string') report(path, `is wrong: ${nth} ${one}`);
    else {
      const next = chain[index + 1];
      if (next === undefined || typeof next === 'string' || isIssuedBy(one, next)) return;
      const order =
        'a chain begins with the certificate itself, and each is followed by its issuer';
      report(path, `is out of order: ${nth} was not issued by the one after it; ${order}`);
    }
  });
  const [leaf] = chain;
  if (leaf === undefined || typeof leaf === 'string') return undefined;
  return leaf;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    if (!certificate.checkIssued(issuer)) return false;
    const { publicKey } = issuer;
    const bits = publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
    return bits <= limits.config.rsaKeyBitsMax && certificate.verify(publicKey);
  } catch {
    // A key of an unknown kind verifies nothing.
    return false;
  }
}

/** Reports names in the certificate that are not host names. */
export function checkNames(
  certificate: X509Certificate | undefined,
  path: Path,
  report: Report,
): void {
  if (certificate === undefined) return;
  for (const { kind, name } of namesOf(certificate)) {
    if (kind !== 'DNS' || isHostnameOrWildcard(name)) continue;
    report(path, `is for ${quote(name)}, which is not a host name`);
  }
}

/** A name of the list, as the runtime writes it: `DNS:a.example`, in quotes if it has unusual characters. */
const nameForm = /(?:^|, )(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g;

function namesOf({ subjectAltName }: X509Certificate): { kind: string; name: string }[] {
  return [...(subjectAltName ?? '').matchAll(nameForm)].map(([, kind, written]) => ({
    kind: kind!,
    name: written!.startsWith('"') ? (JSON.parse(written!) as string) : written!,
  }));
}

/** Reports the faults of the key, alone and against its certificate. */
export function checkPrivateKey(
  text: string,
  certificate: X509Certificate | undefined,
  path: Path,
  report: Report,
): void {
  const key = text.trim() === '' ? 'is required' : readKey(text);
  if (text === hiddenSecret) {
    report(path, `is ${quote(text)}, as it is read without mesh:write: give the key itself`);
    return;
  }
  if (typeof key === 'string') {
    report(path, key);
    return;
  }
  const { rsaKeyBitsMin, rsaKeyBitsMax } = limits.config;
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < rsaKeyBitsMin) {
    report(
      path,
      `is too short: the key length must be at least ${rsaKeyBitsMin} bits, got ${bits}`,
    );
  } else if (bits !== undefined && bits > rsaKeyBitsMax) {
    report(path, `is too long: the key length must be at most ${rsaKeyBitsMax} bits, got ${bits}`);
  }
  if (certificate !== undefined && !certificate.checkPrivateKey(key)) {
    report(path, 'does not belong to the certificate: it is the key of another one');
  }
}

/** The key, or a sentence that tells the fault of the text. */
function readKey(text: string): KeyObject | string {
  const blocks = blocksOf(text);
  // The PEM of a key on an elliptic curve may also have a block with its parameters.
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'));
  if (keys.length === 0) return 'must be a private key in PEM form';
  if (keys.length > 1) return `must be one private key, has ${keys.length}`;
  const [{ label, text: block }] = keys as [Block];
  if (label.startsWith('ENCRYPTED') || /Proc-Type: 4,ENCRYPTED/.test(block)) {
    return 'must not be encrypted: nobody could ask for its passphrase';
  }
  try {
    return createPrivateKey(block);
  } catch {
    return 'cannot be read as a private key';
  }
}
