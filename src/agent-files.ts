/** The files that the settings of an agent name. */
import { readFile } from 'node:fs/promises';
import type { ServerCertificate } from './api/server-certificate.ts';
import type { AgentOptions, TlsFiles } from './cli/agent/options.ts';
import { unreadableReason } from './cli/unreadable.ts';
import type { TrustedTexts } from './sdk/tls-trust.ts';

/** The certificates by which a node alone and its servers know each other. */
export async function readTrust({ servers }: AgentOptions): Promise<TrustedTexts> {
  const { caCertificateFile, clientCertificateFile, clientKeyFile } = servers;
  const [caCertificate, clientCertificate, clientKey] = await Promise.all(
    [caCertificateFile, clientCertificateFile, clientKeyFile].map(
      (path) => path && readNamed(path),
    ),
  );
  return { caCertificate, clientCertificate, clientKey };
}

/** @throws Error if they are of no use */
export async function readRightTrust(options: AgentOptions): Promise<TrustedTexts> {
  const { requireRightTrust } = await import('./agent-certificate.ts');
  const texts = await readTrust(options);
  requireRightTrust(texts);
  return texts;
}

/** The certificate of a server. */
export async function readCertificate(tls: TlsFiles): Promise<ServerCertificate> {
  const { certificateFile, keyFile, authorityFile, verifiesClients } = tls;
  const [certificate, privateKey, authorities] = await Promise.all([
    readNamed(certificateFile),
    readNamed(keyFile),
    authorityFile === undefined ? undefined : readNamed(authorityFile),
  ]);
  return { certificate, privateKey, authorities, verifiesClients };
}

/** The text of a file that a setting names. @throws Error with the path and the reason */
export async function readNamed(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`"${path}" cannot be read: ${unreadableReason(error as Error)}`);
  }
}
