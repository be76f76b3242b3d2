/**
 * The attributes that agents report for their nodes. A test of the node compares its fingerprint with this
 * list.
 */
export const attributeNames: readonly string[] = [
  'kernel.name',
  'kernel.arch',
  'kernel.version',
  'os.name',
  'os.version',
  'os.signals',
  'cpu.arch',
  'cpu.modelname',
  'cpu.frequency',
  'cpu.numcores',
  'cpu.totalcompute',
  'cpu.usablecompute',
  'cpu.reservablecores',
  'memory.totalbytes',
  'unique.hostname',
  'unique.storage.volume',
  'unique.storage.bytestotal',
  'unique.storage.bytesfree',
  'unique.network.ip-address',
  'roster.version',
  'roster.runtime',
  'roster.service_discovery',
];

const roots = new Set(attributeNames.map((name) => name.split('.', 1)[0]!));

/**
 * Whether a node may have the attribute: agents report it, or its name is outside of theirs. Drivers have
 * names of their own.
 */
export const mayBeAttribute = (name: string): boolean =>
  attributeNames.includes(name) || !roots.has(name.split('.', 1)[0]!);

/** References to the node itself; the last one is known only where a task runs. */
export const nodeReferences: readonly string[] = [
  'node.unique.id',
  'node.unique.name',
  'node.datacenter',
  'node.class',
  'node.pool',
];
