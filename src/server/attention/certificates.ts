import { X509Certificate } from 'node:crypto';
import type { InlineCertificate } from '../../model/config-entry/inline-certificate.ts';
import { readsEntry } from '../../model/config-entry/permissions.ts';
import { limits } from '../../model/limits.ts';
import { configEntries } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Finding, ofCluster, type Told } from './finding.ts';

/** The texts of the TLS certificate of an agent, in PEM form. */
export interface OwnCertificate {
  readonly certificate: string;
  readonly authorities?: string | undefined;
}

interface Life {
  /** Unix milliseconds. */
  readonly beginMs: number;
  readonly endMs: number;
}

/** A certificate in the last part of its life, and after it. `subject` begins the reason. */
export function findingsOfLife(
  { beginMs, endMs }: Life,
  subject: string,
  finding: (told: Told) => Finding,
): Finding[] {
  const { certificateEndMs, certificateEndShare } = limits.attention;
  const fromMs = endMs - Math.min(certificateEndMs, (endMs - beginMs) * certificateEndShare);
  const [Kind, at] = ['certificate-ends', new Date(endMs).toISOString()] as const;
  return [
    finding({
      Kind,
      Severity: 'warning',
      Reason: `${subject} expires at ${at}`,
      sinceMs: fromMs,
      fromMs,
      untilMs: endMs,
    }),
    finding({
      Kind,
      Severity: 'critical',
      Reason: `${subject} expired at ${at}`,
      sinceMs: endMs,
      fromMs: endMs,
    }),
  ];
}

const blockForm = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

interface Known extends Life {
  readonly subject: string;
}

function certificatesIn(text: string): readonly Known[] {
  return (text.match(blockForm) ?? []).map((block) => {
    const { validFromDate, validToDate, subject = '' } = new X509Certificate(block);
    const name = /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ');
    return { beginMs: validFromDate.getTime(), endMs: validToDate.getTime(), subject: name };
  });
}

/** The authority in a text that lives longest: as long as it lives, there is one to trust. */
const lastIn = (text: string): Known | undefined =>
  certificatesIn(text).toSorted((left, right) => right.endMs - left.endMs)[0];

/** The certificate of the agent that answers, with those of its issuers, and the authorities that it trusts. */
export function findingsOfAgent(own: OwnCertificate | undefined): Finding[] {
  if (own === undefined) return [];
  const found = certificatesIn(own.certificate).flatMap((one, at) => {
    const which =
      at === 0 ? 'The TLS certificate' : `The issuer "${one.subject}" of the certificate`;
    return findingsOfLife(one, `${which} of the agent that answers`, ofCluster);
  });
  const last = lastIn(own.authorities ?? '');
  if (last === undefined) return found;
  const words = `The authority "${last.subject}" of the agent that answers`;
  return [...found, ...findingsOfLife(last, words, ofCluster)];
}

/** The authorities that peering tokens carry (`peering.ca_file`), unless they are told of with the certificate. */
export function findingsOfAdvertised(
  texts: readonly string[],
  { certificate = '', authorities = '' }: Partial<OwnCertificate> = {},
): Finding[] {
  const others = texts.filter((text) => text !== certificate && text !== authorities);
  const last = lastIn(others.join('\n'));
  if (last === undefined) return [];
  const words = `The authority "${last.subject}", by which peers know the agent that answers,`;
  return findingsOfLife(last, words, ofCluster);
}

/** The authorities by which a peer is known: without them no stream to it can be opened. */
export function findingsOfAuthorities(
  texts: readonly string[],
  finding: (told: Told) => Finding,
): Finding[] {
  const last = lastIn(texts.join('\n'));
  if (last === undefined) return [];
  return findingsOfLife(last, `The authority "${last.subject}" of the other cluster`, finding);
}

/** The certificate of a gateway, in a configuration entry. */
export function findingsOfInlineCertificate(snapshot: Snapshot, key: readonly string[]): Finding[] {
  const entry = snapshot.table(configEntries).get(...key) as InlineCertificate | undefined;
  if (!entry?.Details) return [];
  const { Kind: kind, Name, Namespace } = entry;
  const { NotBefore, NotAfter } = entry.Details;
  const life = { beginMs: Date.parse(NotBefore), endMs: Date.parse(NotAfter) };
  return findingsOfLife(life, 'The certificate, or one of its issuers,', (told) => ({
    Noun: 'configuration-entry',
    ID: `${kind}/${Name}`,
    Name,
    Namespace,
    JobID: '',
    ...told,
    permission: readsEntry(entry),
  }));
}
