import { formatInstant } from '../../base/instant.ts';
import type { Steps } from '../../base/steps.ts';
import { attentionEndpoints as contract } from '../../contract/attention.ts';
import {
  type Attention as Answer,
  type AttentionItem,
  attentionKinds,
  severities,
} from '../../model/attention/attention.ts';
import { refusal } from '../../model/errors.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { type Attention, attentionTables } from '../../server/attention/attention.ts';
import {
  findingsOfAdvertised,
  findingsOfAgent,
  type OwnCertificate,
} from '../../server/attention/certificates.ts';
import {
  findingsOfLag,
  findingsOfLimits,
  findingsOfServer,
} from '../../server/attention/cluster.ts';
import type { Finding } from '../../server/attention/finding.ts';
import { findingsOfServers } from '../../server/attention/servers.ts';
import type { Server } from '../../server/server.ts';
import type { Snapshot, Stamps, TableDefinition } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveSteps } from '../serve.ts';

/** Knowledge of the process about itself. */
export interface OwnFacts {
  /** The certificate of its API; `undefined`: it does not use TLS. */
  readonly certificate: () => OwnCertificate | undefined;
  readonly isReader: boolean;
}

type Given = InputOf<typeof contract.read>;

/** Source: docs/behaviour/attention.md. */
export const attentionRoutes = (
  server: Server,
  attention: Attention,
  { certificate, isReader }: OwnFacts,
): Route[] =>
  serveSteps(contract.read, function* (input): Steps<Answer> {
    requireKnown('severity', input.query.severity, severities);
    requireKnown('kind', input.query.kind, attentionKinds);
    const nowMs = server.context.world.clock.nowMs();
    noteDependencies(input.snapshot);
    const lists = [
      findingsOfServer(server, nowMs),
      // A reader knows the main thread alone.
      isReader ? [] : findingsOfServers(server, nowMs),
      findingsOfLag(server),
      findingsOfAgent(certificate()),
      isReader ? [] : findingsOfAdvertised(server.advertised.caPems, certificate()),
      findingsOfLimits(input.unwatched),
      ...(yield* attention.read()),
    ];
    const asked = lists.flat().filter((finding) => isAsked(finding, input));
    noteMoment(input, asked, nowMs);
    return answerOf(
      asked.filter((finding) => isDue(finding, nowMs)),
      input,
    );
  });

/** Every change of the tables wakes the read, since it may change the answer. */
function noteDependencies(snapshot: Snapshot): void {
  for (const table of attentionTables) {
    snapshot.table(table as unknown as TableDefinition<Stamps>).lastIndex();
  }
}

/** @throws RosterError `invalid-query` */
function requireKnown(parameter: string, word: string, known: readonly string[]): void {
  if (word === '' || known.includes(word)) return;
  throw refusal('invalid-query', { parameter, reason: `must be one of ${known.join(', ')}` });
}

const isDue = ({ fromMs = 0, untilMs = Number.POSITIVE_INFINITY }: Finding, nowMs: number) =>
  nowMs >= fromMs && nowMs < untilMs;

/** The next time at which a finding begins or ends to hold. */
function noteMoment({ moment }: Given, findings: readonly Finding[], nowMs: number): void {
  const times = findings.flatMap(({ fromMs = 0, untilMs = 0 }) => [fromMs, untilMs]);
  const next = times.reduce((least, atMs) => (atMs > nowMs && atMs < least ? atMs : least), never);
  if (next < never) moment.atMs = next;
}

const never = Number.POSITIVE_INFINITY;

function isAsked(finding: Finding, { query, namespace, allows }: Given): boolean {
  const { Kind, Severity, Namespace, JobID, permission } = finding;
  if (query.severity !== '' && query.severity !== Severity) return false;
  if (query.kind !== '' && query.kind !== Kind) return false;
  if (query.job !== '' && query.job !== JobID) return false;
  // Nouns without a namespace concern all of them.
  if (Namespace !== '' && namespace !== everyNamespace && namespace !== Namespace) return false;
  return allows(permission);
}

const ranks = new Map(severities.map((severity, at) => [severity as string, at]));

function answerOf(findings: readonly Finding[], { query }: Given): Answer {
  const inOrder = findings.toSorted((left, right) => {
    const bySeverity = ranks.get(left.Severity)! - ranks.get(right.Severity)!;
    if (bySeverity !== 0) return bySeverity;
    if (left.sinceMs !== right.sinceMs) return right.sinceMs - left.sinceMs;
    return keyOf(left) < keyOf(right) ? -1 : 1;
  });
  return {
    Items: inOrder.slice(0, query.limit).map(shown),
    Total: findings.length,
    BySeverity: countBy(findings, ({ Severity }) => Severity),
    ByKind: countBy(findings, ({ Kind }) => Kind),
  };
}

const keyOf = ({ Kind, Namespace, Name, ID }: Finding): string =>
  [Kind, Namespace, Name, ID].join('\0');

const shown = (finding: Finding): AttentionItem => {
  const { Kind, Severity, Noun, ID, Name, Namespace, JobID, Reason, sinceMs } = finding;
  const Since = sinceMs === 0 ? null : formatInstant(sinceMs);
  return { Kind, Severity, Noun, ID, Name, Namespace, JobID, Since, Reason };
};

function countBy(
  findings: readonly Finding[],
  wordOf: (finding: Finding) => string,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const finding of findings) counts[wordOf(finding)] = (counts[wordOf(finding)] ?? 0) + 1;
  return counts;
}
