import { describe, expect, test } from 'vitest';
import { exampleCertificate, examplePrivateKey } from './certificate-example.ts';
import { detailsOf } from './certificate-text.ts';
import {
  authorityCertificate,
  authorityKey,
  encryptedKey,
  leafCertificate,
  leafKey,
  oddlyNamedCertificate,
  shortRsaCertificate,
  shortRsaKey,
} from './certificates.test-helper.ts';
import { entryTable, messagesOf } from './entry-table.test-helper.ts';

const pair = (Certificate: string, PrivateKey: string) => ({ Certificate, PrivateKey });
const block = (label: string, text = 'AAAA') =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
const order = 'a chain begins with the certificate itself, and each is followed by its issuer';
const another = 'PrivateKey does not belong to the certificate: it is the key of another one';

describe('inline-certificate', () => {
  entryTable({ Kind: 'inline-certificate', Name: 'c', ...pair(leafCertificate, leafKey) }, [
    ['a self-signed certificate', pair(exampleCertificate, examplePrivateKey)],
    ['a certificate with its issuer', pair(leafCertificate + authorityCertificate, leafKey)],
    [
      'a certificate with other text around it',
      pair(`subject=leaf\n${leafCertificate}`, `key\n${leafKey}`),
    ],
    ['nothing', pair('', ' '), 'Certificate is required', 'PrivateKey is required'],
    [
      'something else',
      pair('certificate', 'key'),
      'Certificate must be a certificate in PEM form',
      'PrivateKey must be a private key in PEM form',
    ],
    [
      'a key that was read without being shown',
      pair(leafCertificate, '<hidden>'),
      'PrivateKey is "<hidden>", as it is read without mesh:write: give the key itself',
    ],
    [
      'blocks without a certificate or a key in them',
      pair(block('CERTIFICATE'), block('PRIVATE KEY')),
      'Certificate is wrong: certificate 1 of 1 cannot be read as a certificate',
      'PrivateKey cannot be read as a private key',
    ],
    [
      'certificate and key exchanged',
      pair(leafKey, leafCertificate),
      'Certificate is wrong: certificate 1 of 1 is a EC PRIVATE KEY, and no certificate',
      'PrivateKey must be a private key in PEM form',
    ],
    [
      'the issuer first',
      pair(authorityCertificate + leafCertificate, authorityKey),
      `Certificate is out of order: certificate 1 of 2 was not issued by the one after it; ${order}`,
    ],
    [
      'a certificate followed by another one that is not its issuer',
      pair(leafCertificate + exampleCertificate, leafKey),
      `Certificate is out of order: certificate 1 of 2 was not issued by the one after it; ${order}`,
    ],
    [
      'too many',
      pair(exampleCertificate.repeat(17), examplePrivateKey),
      'Certificate must hold at most 16 certificates, has 17',
    ],
    [
      'a name that is not a host',
      pair(oddlyNamedCertificate, leafKey),
      'Certificate is for "not_a host", which is not a host name',
    ],
    ['the key of another certificate', pair(leafCertificate, authorityKey), another],
    [
      'a short key',
      pair(shortRsaCertificate, shortRsaKey),
      'PrivateKey is too short: the key length must be at least 2048 bits, got 1024',
    ],
    [
      'an encrypted key',
      pair(leafCertificate, encryptedKey),
      'PrivateKey must not be encrypted: nobody could ask for its passphrase',
    ],
    [
      'a key encrypted in the old form',
      pair(
        leafCertificate,
        block('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: X\n\nAAAA'),
      ),
      'PrivateKey must not be encrypted: nobody could ask for its passphrase',
    ],
    [
      'two keys',
      pair(leafCertificate, leafKey + authorityKey),
      'PrivateKey must be one private key, has 2',
    ],
  ]);

  test('no sentence repeats a key', () => {
    const secret = 'MHcCAQEEI'.repeat(8);
    for (const key of [secret, block('PRIVATE KEY', secret), 42, { secret }]) {
      const body = { Kind: 'inline-certificate', Name: 'c', Certificate: secret, PrivateKey: key };
      expect(messagesOf(body).join()).not.toContain('MHcCAQ');
    }
  });

  test('a block without an end is read in time', () => {
    const text = '-----BEGIN CERTIFICATE-----\n'.repeat(9000);
    expect(messagesOf({ Kind: 'inline-certificate', Name: 'c', ...pair(text, text) })).toEqual([
      'Certificate must be a certificate in PEM form',
      'PrivateKey must be a private key in PEM form',
    ]);
  });

  test('details are of the first certificate; the chain ends when its first certificate ends', () => {
    expect(detailsOf(leafCertificate + authorityCertificate)).toMatchObject({
      Subject: 'CN=leaf.example.com',
      Issuer: 'CN=test authority',
      Hosts: ['leaf.example.com', '10.0.0.1'],
      NotAfter: '2027-11-22T10:09:01Z',
      ChainLength: 2,
    });
    expect(detailsOf('')).toBeUndefined();
    expect(detailsOf(block('CERTIFICATE'))).toBeUndefined();
  });
});

describe('file-system-certificate', () => {
  const absolute = 'must be an absolute path, got';
  entryTable({ Kind: 'file-system-certificate', Name: 'c', ...pair('/etc/c', '/etc/k') }, [
    ['nothing', pair('', ''), 'Certificate is required', 'PrivateKey is required'],
    [
      'relative paths',
      pair('etc/c', './k'),
      `Certificate ${absolute} "etc/c"`,
      `PrivateKey ${absolute} "./k"`,
    ],
    ['a path with ..', pair('/etc/../c', '/k'), 'Certificate must not have "..", got "/etc/../c"'],
    [
      'texts in place of paths',
      pair(leafCertificate, leafKey),
      'Certificate must be the path of a file; its content belongs in an inline-certificate',
      'PrivateKey must be the path of a file; its content belongs in an inline-certificate',
    ],
    ['a file for both', pair('/a', '/a'), 'PrivateKey must not be the file of the certificate'],
  ]);
});
