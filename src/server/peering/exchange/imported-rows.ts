import { each, type Steps } from '../../../base/steps.ts';
import type {
  ExchangeFrame,
  ExportedInstance,
  ServiceKey,
} from '../../../model/peering/exchange.ts';
import type { ImportedInstance } from '../../../model/peering/imported.ts';
import { isSame } from '../../../model/same.ts';
import { importedInstances, importedServices } from '../../../state/tables.ts';
import type { Snapshot, Transaction, Unstamped } from '../../../state/types.ts';
import type { ExchangeBounds } from './bounds.ts';
import type { PeerPlace } from './exported.ts';

export type ExchangeChange = Extract<ExchangeFrame, { readonly type: 'change' }>;

/** The peer broke a rule: its stream is ended with this reason. */
export class ChangeRefusal extends Error {
  override readonly name = 'ChangeRefusal';
}

/** The amount of imported rows of a peer. */
export interface Amount {
  readonly services: number;
  readonly instances: number;
  readonly bytes: number;
}
export const nothing: Amount = { services: 0, instances: 0, bytes: 0 };

/** Whether the peer may tell instances of the service: it has told that it exports the service. */
export type MayHave = (service: ServiceKey, isKnown: boolean) => boolean;

export const keyOfRow = ({ Partition, Peer, Namespace, ServiceName, ID }: ImportedInstance) =>
  [Partition, Peer, Namespace, ServiceName, ID] as const;

/** @throws ChangeRefusal */
export function applied(
  transaction: Transaction,
  place: PeerPlace,
  options: {
    readonly change: ExchangeChange;
    readonly before: Amount;
    readonly mayHave: MayHave;
    readonly bounds: ExchangeBounds;
  },
): Amount {
  const { change, before, mayHave, bounds } = options;
  const { partition, name: peer } = place;
  let { services, instances, bytes } = before;
  const serviceTable = transaction.table(importedServices);
  const table = transaction.table(importedInstances);
  for (const { namespace, name, protocol } of change.services) {
    const known = serviceTable.get(partition, peer, namespace, name);
    if (known?.Protocol === protocol) continue;
    if (known === undefined) services++;
    const row = { Partition: partition, Peer: peer, Namespace: namespace, Name: name };
    serviceTable.put({ ...row, Protocol: protocol });
  }
  for (const instance of change.instances) {
    const { namespace, name, id } = instance;
    if (!mayHave(instance, serviceTable.has(partition, peer, namespace, name))) {
      throw new ChangeRefusal(
        `told of an instance of "${name}", a service that it does not export`,
      );
    }
    const known = table.get(partition, peer, namespace, name, id);
    const next = rowOf(place, instance);
    if (known !== undefined && isSameRow(known, next)) continue;
    if (known === undefined) instances++;
    bytes += bytesOf(next) - (known === undefined ? 0 : bytesOf(known));
    table.put(next);
  }
  for (const { namespace, name, id } of change.removedInstances) {
    const known = table.get(partition, peer, namespace, name, id);
    if (known === undefined) continue;
    table.delete(...keyOfRow(known));
    instances--;
    bytes -= bytesOf(known);
  }
  return bounded({ services, instances, bytes }, bounds);
}

/** @throws ChangeRefusal */
function bounded(amount: Amount, bounds: ExchangeBounds): Amount {
  const { importedServicesMax, importedInstancesMax, importedBytesMax } = bounds;
  const { services, instances, bytes } = amount;
  if (services > importedServicesMax) {
    throw new ChangeRefusal(`exports more than ${importedServicesMax} services`);
  }
  if (instances > importedInstancesMax) {
    throw new ChangeRefusal(`exports more than ${importedInstancesMax} instances`);
  }
  if (bytes > importedBytesMax)
    throw new ChangeRefusal(`exports more than ${importedBytesMax} bytes`);
  return amount;
}

type UnstampedInstance = Unstamped<ImportedInstance>;

const rowOf = (
  { partition, name: peer }: PeerPlace,
  { namespace, name, id, weights, tags, meta, ...rest }: ExportedInstance,
): UnstampedInstance => ({
  ID: id,
  ServiceName: name,
  TaskName: '',
  Tags: tags.length === 0 ? null : tags,
  Meta: Object.keys(meta).length === 0 ? null : meta,
  Address: rest.address,
  Port: rest.port,
  TaggedAddresses: null,
  Weights: { Passing: weights.passing, Warning: weights.warning },
  Status: rest.status,
  Namespace: namespace,
  NodeID: '',
  Datacenter: rest.datacenter,
  JobID: '',
  AllocID: '',
  Partition: partition,
  Peer: peer,
});

function isSameRow(row: ImportedInstance, next: UnstampedInstance): boolean {
  const { CreateIndex, ModifyIndex } = row;
  return isSame(row, { ...next, CreateIndex, ModifyIndex });
}

/** An estimate of the memory of a row: its texts, and as much again for the objects around them. */
export function bytesOf({ ID, Address, Tags, Meta }: UnstampedInstance): number {
  const lengths = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0);
  const texts = [ID, Address, ...(Tags ?? [])];
  return 512 + 2 * (lengths(texts) + lengths(Object.entries(Meta ?? {}).flat()));
}

export function* measured(snapshot: Snapshot, { partition, name }: PeerPlace): Steps<Amount> {
  const prefix = [partition, name];
  let services = 0;
  let instances = 0;
  let bytes = 0;
  yield* each(snapshot.table(importedServices).scan({ prefix }), () => services++);
  yield* each(snapshot.table(importedInstances).scan({ prefix }), (row) => {
    instances++;
    bytes += bytesOf(row);
  });
  return { services, instances, bytes };
}
