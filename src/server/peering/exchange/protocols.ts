import { limits } from '../../../model/limits.ts';
import { defaultNamespace } from '../../../model/namespace/namespace.ts';
import type { ServiceKey } from '../../../model/peering/exchange.ts';
import { textOfService } from '../../../model/peering/exports.ts';
import { configEntries } from '../../../state/tables.ts';
import type { Change, Snapshot } from '../../../state/types.ts';

interface ProtocolEntry {
  readonly Kind: string;
  readonly Partition: string;
  readonly Namespace: string;
  readonly Name: string;
  readonly Protocol?: string;
  readonly Config?: Readonly<Record<string, unknown>> | null;
}

/**
 * The protocol of a service: that of its defaults, else that of all proxies, else `tcp`.
 * Source: docs/behaviour/configuration.md#protocols.
 */
export function protocolOf(
  snapshot: Snapshot,
  partition: string,
  { namespace, name }: ServiceKey,
): string {
  const table = snapshot.table(configEntries);
  const get = (place: string, kind: string, of: string) =>
    table.get(partition, place, kind, of) as unknown as ProtocolEntry | undefined;
  const own = get(namespace, 'service-defaults', name)?.Protocol;
  const general = get(defaultNamespace, 'proxy-defaults', 'global')?.Config?.protocol;
  const spoken = own || general;
  return typeof spoken === 'string' && isTold(spoken) ? spoken.toLowerCase() : 'tcp';
}

/** An entry may have any text; peers refuse a text that is too long. */
const isTold = (protocol: string): boolean =>
  protocol !== '' && protocol.length <= limits.names.lengthMax;

/**
 * The services whose protocol a change may concern: a service as text, or `*` for all of the
 * partition.
 */
export function protocolChange({
  table,
  before,
  after,
}: Change): { readonly partition: string; readonly service: string } | undefined {
  if (table !== configEntries.name) return undefined;
  const { Kind, Partition, Namespace, Name } = (after ?? before) as unknown as ProtocolEntry;
  if (Kind === 'proxy-defaults') return { partition: Partition, service: '*' };
  if (Kind !== 'service-defaults') return undefined;
  return { partition: Partition, service: textOfService({ namespace: Namespace, name: Name }) };
}
