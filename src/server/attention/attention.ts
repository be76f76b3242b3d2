import type { SecretBox } from '../../base/secret-box.ts';
import type { Steps } from '../../base/steps.ts';
import type { ConfigEntry } from '../../model/config-entry/config-entry.ts';
import { inlineCertificate } from '../../model/config-entry/inline-certificate.ts';
import {
  aclTokens,
  allocations,
  configEntries,
  deployments,
  evaluations,
  jobSummaries,
  jobs,
  nodes,
  peeringConnections,
  peerings,
  serviceRegistrations,
  variableItems,
} from '../../state/tables.ts';
import type { Change, Snapshot, State } from '../../state/types.ts';
import { findingsOfInlineCertificate } from './certificates.ts';
import { findingsOfPeerings, findingsOfTokens } from './cluster.ts';
import type { Finding } from './finding.ts';
import { findingsOfJob } from './jobs.ts';
import { findingsOfNode } from './nodes.ts';
import { findingsOfVariable } from './variables.ts';

type Row = Readonly<Record<string, unknown>>;

/** The rows of a table, and the subjects whose findings depend on them. */
const dependents: Readonly<Record<string, (row: Row) => readonly string[]>> = {
  [configEntries.name]: (row) => certificateKeys(row as unknown as ConfigEntry),
  [variableItems.name]: ({ Namespace, Path }) => [`variable\0${Namespace}\0${Path}`],
  [jobs.name]: (row) => [jobKey(row.Namespace, row.ID)],
  [jobSummaries.name]: (row) => [jobKey(row.Namespace, row.JobID)],
  [evaluations.name]: (row) => [jobKey(row.Namespace, row.JobID)],
  [deployments.name]: (row) => [jobKey(row.Namespace, row.JobID)],
  [serviceRegistrations.name]: (row) => [jobKey(row.Namespace, row.JobID)],
  [allocations.name]: (row) => [jobKey(row.Namespace, row.JobID), `node\0${row.NodeID}`],
  [nodes.name]: (row) => [`node\0${row.ID}`],
  [peerings.name]: () => ['peerings'],
  [peeringConnections.name]: () => ['peerings'],
  [aclTokens.name]: () => ['tokens'],
};

/** The tables whose changes can change findings. */
export const attentionTables = [
  configEntries,
  variableItems,
  jobs,
  jobSummaries,
  evaluations,
  deployments,
  serviceRegistrations,
  allocations,
  nodes,
  peerings,
  peeringConnections,
  aclTokens,
] as const;

const certificateKeys = (entry: ConfigEntry): readonly string[] =>
  entry.Kind === inlineCertificate.kind ? [['entry', ...configEntries.key(entry)].join('\0')] : [];

const jobKey = (namespace: unknown, id: unknown): string => `job\0${namespace}\0${id}`;

interface AttentionOptions {
  readonly state: Pick<State, 'read' | 'onCommit' | 'onReplaced'>;
  /** Opens the items of variables, to count them. */
  readonly box: Pick<SecretBox, 'open'>;
  readonly nowMs: () => number;
}

/**
 * What needs attention, by subject: a job with all that belongs to it, a node, a variable, the certificate of a gateway, the
 * peerings, the tokens.
 *
 * Invariants
 *  A1. The findings of a subject are a pure function of a snapshot (`findingsOf`).
 *  A2. The first read judges every subject, in steps. From then on a commit marks the subjects that it concerns,
 *      and a read judges the marked ones only.
 *  A3. A subject is unmarked before it is judged on the newest state, so no change is missed.
 *  A4. It holds one text for each subject that is marked, and the findings; nothing before the first read.
 */
export class Attention {
  readonly #options: AttentionOptions;
  readonly #findings = new Map<string, readonly Finding[]>();
  readonly #marked = new Set<string>();
  #isFollowing = false;

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  /** The findings of the newest state. */
  *read(): Steps<Iterable<readonly Finding[]>> {
    this.#followCommits();
    let judged = 0;
    while (this.#marked.size > 0) {
      const snapshot = this.#options.state.read();
      for (const key of this.#marked) {
        this.#judgeSubject(snapshot, key);
        if (++judged % subjectsPerStep === 0) break;
      }
      if (this.#marked.size > 0) yield;
    }
    return this.#findings.values();
  }

  #followCommits(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    // It lives as long as the state.
    const { state } = this.#options;
    state.onCommit((changes) => this.#mark(changes));
    state.onReplaced(() => this.#markAll());
    this.#markAll();
  }

  #markAll(): void {
    this.#findings.clear();
    this.#marked.clear();
    const snapshot = this.#options.state.read();
    for (const { Namespace, ID } of snapshot.table(jobs).scan()) {
      this.#marked.add(jobKey(Namespace, ID));
    }
    for (const { ID } of snapshot.table(nodes).scan()) this.#marked.add(`node\0${ID}`);
    for (const { Namespace, Path } of snapshot.table(variableItems).scan()) {
      this.#marked.add(`variable\0${Namespace}\0${Path}`);
    }
    for (const entry of snapshot.table(configEntries).scan()) {
      for (const key of certificateKeys(entry)) this.#marked.add(key);
    }
    for (const key of ['peerings', 'tokens']) this.#marked.add(key);
  }

  #mark(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      const keysOf = dependents[table];
      if (keysOf === undefined) continue;
      const row = (after ?? before) as unknown as Row;
      for (const key of keysOf(row)) this.#marked.add(key);
      // A row that moves, such as an allocation whose node is set, concerns both.
      if (before === undefined || after === undefined) continue;
      for (const key of keysOf(before as unknown as Row)) this.#marked.add(key);
    }
  }

  #judgeSubject(snapshot: Snapshot, key: string): void {
    this.#marked.delete(key);
    const found = findingsOf(snapshot, key, this.#options);
    if (found.length > 0) this.#findings.set(key, found);
    else this.#findings.delete(key);
  }
}

/** The findings of a subject. */
export function findingsOf(
  snapshot: Snapshot,
  key: string,
  { nowMs, box }: Pick<AttentionOptions, 'nowMs' | 'box'>,
): readonly Finding[] {
  const [noun, first = '', second = '', ...rest] = key.split('\0');
  if (noun === 'job') return findingsOfJob(snapshot, first, second);
  if (noun === 'node') return findingsOfNode(snapshot, first);
  if (noun === 'entry') return findingsOfInlineCertificate(snapshot, [first, second, ...rest]);
  if (noun === 'variable') {
    return findingsOfVariable(snapshot, box, { namespace: first, path: second });
  }
  if (noun === 'peerings') return findingsOfPeerings(snapshot);
  return findingsOfTokens(snapshot, nowMs());
}

/** Not in limits: it changes no answer. */
const subjectsPerStep = 16;
