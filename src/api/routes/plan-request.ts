/** The act that the body of a plan names. */
import { type PlanRequest, PlanRequestSchema } from '../../contract/plan.ts';
import { checkValues } from '../../model/check-values.ts';
import { complete } from '../../model/complete.ts';
import { completeEntry, decodeEntry } from '../../model/config-entry/entry.ts';
import { type Fault, invalid } from '../../model/errors.ts';
import type { Act } from '../../model/kept-plan/act.ts';
import { type PlanKind, type PlanSubject, planKinds } from '../../model/kept-plan/kept-plan.ts';
import { DrainSpecSchema } from '../../model/node/drain.ts';
import { eligibilities, type Node } from '../../model/node/node.ts';
import { below, faultAt } from '../../model/path.ts';
import { deletedKey } from '../../server/plans/perform.ts';

const shared = ['Kind', 'Keep', 'Namespace'] as const;

/** The fields that count, and those that are required, by kind. */
const fields: Readonly<
  Record<
    PlanKind,
    {
      readonly takes: readonly (keyof PlanRequest)[];
      readonly needs: readonly (keyof PlanRequest)[];
    }
  >
> = {
  job: {
    takes: ['Job', 'Submission', 'PolicyOverride', 'PreserveCounts', 'PreserveResources'],
    needs: ['Job'],
  },
  scale: {
    takes: ['JobID', 'Group', 'Count', 'Message', 'PolicyOverride'],
    needs: ['JobID', 'Group', 'Count'],
  },
  revert: {
    takes: ['JobID', 'JobVersion', 'PolicyOverride'],
    needs: ['JobID', 'JobVersion'],
  },
  drain: { takes: ['NodeID', 'DrainSpec', 'MarkEligible', 'Meta'], needs: ['NodeID'] },
  eligibility: { takes: ['NodeID', 'Eligibility'], needs: ['NodeID', 'Eligibility'] },
  'configuration-entry': { takes: ['Partition', 'Entry', 'Delete'], needs: [] },
};

/** @throws RosterError `invalid-body` with all faults of the fields beside the job */
export function requireFields(body: PlanRequest, unknownFields: readonly string[]): PlanKind {
  const kind = planKinds.find((one) => one === body.Kind);
  const faults: Fault[] = checkValues(PlanRequestSchema, body);
  if (kind === undefined) {
    const message = `is required: one of ${planKinds.join(', ')}`;
    if (!body.Kind) faults.push(faultAt(below(null, 'Kind'), message));
    throw invalid('invalid-body', faults);
  }
  const { takes, needs } = fields[kind];
  const known = new Set<string>([...shared, ...takes]);
  for (const [name, value] of Object.entries(body)) {
    if (known.has(name) || isNothing(value)) continue;
    faults.push(faultAt(below(null, name), `is no field of a plan of the kind ${kind}`));
  }
  for (const name of needs) {
    const value = body[name];
    const isThere = value !== undefined && value !== null && value !== '';
    if (!isThere) faults.push(faultAt(below(null, name), 'is required'));
  }
  if (kind === 'configuration-entry' && !body.Entry === !body.Delete) {
    faults.push(faultAt(below(null, 'Entry'), 'is required, or else Delete: one of the two'));
  }
  if (kind !== 'job') {
    for (const name of unknownFields) faults.push(faultAt(below(null, name), 'is unknown'));
  }
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return kind;
}

/** As with unknown fields: clients with types send every field they know. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The act, and what its plan is about. `node`: the node that the body names. */
export function actIn(
  body: PlanRequest,
  kind: Exclude<PlanKind, 'job'>,
  { namespace: Namespace, node }: { readonly namespace: string; readonly node: Node | undefined },
): { readonly act: Act; readonly about: PlanSubject } {
  const { JobID = '', PolicyOverride = false, NodeID = '' } = body;
  const ofJob = { Namespace, JobID, PolicyOverride };
  const aboutJob = { Kind: kind, Partition: 'default', Namespace, JobID, Subject: '', Name: '' };
  const aboutNode = { ...aboutJob, Namespace: 'default', JobID: '' };
  const atNode = { ...aboutNode, Subject: NodeID, Name: node?.Name ?? '' };
  switch (kind) {
    case 'scale': {
      const { Group = '', Message = '' } = body;
      return { act: { Kind: kind, ...ofJob, Group, Count: body.Count!, Message }, about: aboutJob };
    }
    case 'revert':
      return { act: { Kind: kind, ...ofJob, JobVersion: body.JobVersion! }, about: aboutJob };
    case 'drain': {
      const DrainSpec = body.DrainSpec ? complete(DrainSpecSchema, body.DrainSpec) : null;
      const { MarkEligible = false, Meta = null } = body;
      return { act: { Kind: kind, NodeID, DrainSpec, MarkEligible, Meta }, about: atNode };
    }
    case 'eligibility': {
      const Eligibility = eligibilities.find((word) => word === body.Eligibility)!;
      return { act: { Kind: kind, NodeID, Eligibility }, about: atNode };
    }
    case 'configuration-entry':
      return entryAct(body, Namespace);
  }
}

function entryAct({ Partition, Entry, Delete }: PlanRequest, Namespace: string) {
  const Kind = 'configuration-entry' as const;
  const deleted = Delete ? { Kind: Delete.Kind ?? '', Name: Delete.Name ?? '' } : null;
  const place = { Partition: Partition || 'default', Namespace };
  const act = { Kind, ...place, Entry: deleted ? null : Entry, Delete: deleted };
  const scope = { partition: place.Partition, namespace: Namespace };
  const key = deleted ? deletedKey(act) : undefined;
  const entry = key ? undefined : completeEntry(decodeEntry(Entry), scope);
  const about: PlanSubject = {
    Kind,
    Partition: key?.partition ?? entry!.Partition,
    Namespace: key?.namespace ?? entry!.Namespace,
    JobID: '',
    Subject: key?.kind ?? entry!.Kind,
    Name: key?.name ?? entry!.Name,
  };
  return { act, about };
}
