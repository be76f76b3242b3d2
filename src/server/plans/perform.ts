import type { EntryKey } from '../../model/config-entry/config-entry.ts';
import { configKinds } from '../../model/config-entry/config-entry.ts';
import { decodeEntry, placeOfKind } from '../../model/config-entry/entry.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import { invalid } from '../../model/errors.ts';
import type { Act, EntryAct } from '../../model/kept-plan/act.ts';
import { below, faultAt, quote } from '../../model/path.ts';
import { applyEntry, deleteEntry } from '../config-entries/write.ts';
import type { ActContext } from '../context.ts';
import { revertJob } from '../jobs/revert.ts';
import { scaleJob } from '../jobs/scale.ts';
import { drainNode } from '../nodes/drain.ts';
import { setEligibility } from '../nodes/eligibility.ts';

/** The parts that the answers of all acts have. */
export interface Performed {
  readonly Index: number;
  readonly Warnings: string;
}

/**
 * Does the act by the very function of its own endpoint, in one transaction: on the state, or on a rehearsal of it.
 * @throws RosterError as the act
 */
export async function perform(context: ActContext, act: Act, accessor: string): Promise<Performed> {
  switch (act.Kind) {
    case 'scale': {
      const { Namespace, JobID, Group, Count, Message, PolicyOverride } = act;
      return scaleJob(context, {
        namespace: Namespace,
        jobId: JobID,
        request: { Count, Target: { Group }, Message: Message || `scaled to ${Count}` },
        enforceIndex: undefined,
        policyOverride: PolicyOverride,
        unknownFields: [],
        faults: [],
      });
    }
    case 'revert': {
      const { Namespace, JobID, JobVersion, PolicyOverride } = act;
      return revertJob(context, {
        namespace: Namespace,
        jobId: JobID,
        version: JobVersion,
        priorVersion: undefined,
        policyOverride: PolicyOverride,
        accessor,
        unknownFields: [],
      });
    }
    case 'drain': {
      const { NodeID, DrainSpec, MarkEligible, Meta } = act;
      const request = { spec: DrainSpec, markEligible: MarkEligible, meta: Meta, accessor };
      return withoutWarnings(await drainNode(context, NodeID, request));
    }
    case 'eligibility':
      return withoutWarnings(await setEligibility(context, act.NodeID, act.Eligibility));
    case 'configuration-entry':
      return performOnEntry(context, act);
  }
}

const withoutWarnings = ({ Index }: Pick<Performed, 'Index'>): Performed => ({
  Index,
  Warnings: '',
});

async function performOnEntry(context: ActContext, act: EntryAct): Promise<Performed> {
  const options = { guard: undefined, isDry: false };
  const { Partition: partition, Namespace: namespace } = act;
  const { index } =
    act.Delete === null
      ? await applyEntry(context, { partition, namespace }, decodeEntry(act.Entry), options)
      : await deleteEntry(context, deletedKey(act), options);
  return { Index: index, Warnings: '' };
}

/** @throws RosterError `invalid-body` if there is no such kind */
export function deletedKey({ Partition, Namespace, Delete }: EntryAct): EntryKey {
  const kind = findKind(Delete?.Kind ?? '');
  if (kind === undefined) {
    const message = `must be one of ${configKinds.join(', ')}, got ${quote(Delete?.Kind ?? '')}`;
    throw invalid('invalid-body', [faultAt(below(null, 'Delete', 'Kind'), message)]);
  }
  const place = placeOfKind(kind, { namespace: Namespace, partition: Partition });
  return { ...place, kind: kind.kind, name: Delete?.Name ?? '' };
}
