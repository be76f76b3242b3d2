/**
 * What each resource of the rules language means: what its coarse words hold, where it lives, and
 * what stands in for it where no rule speaks of it. The one table behind deciding and explaining.
 * Source: docs/behaviour/access-control.md#how-rules-come-together.
 */
export interface ResourceFacts {
  /**
   * Where its rules speak that stand in no `namespace` block, in a policy of the namespace
   * `default`: for that namespace only, or for every one. Of a resource that lives in no namespace
   * (`none`) such rules are the only ones that count.
   */
  readonly unwrapped: 'home' | 'everywhere' | 'none';
  /** What a rule's word holds; what rules hold by capabilities is in their list. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** Capabilities that bring others along. */
  readonly implies?: Readonly<Record<string, readonly string[]>>;
  /** The resource whose rules decide where none of its own does. */
  readonly fallback?: string;
  /** What the fallback gives counts too where a rule gives too little; where one denies, never. */
  readonly fallbackAdds?: true;
  /** Allowed where no rule speaks and the default policy is `allow`. */
  readonly followsDefault: boolean;
}

const readWrite = { read: ['read'], write: ['read', 'write'] };

const cluster: ResourceFacts = { unwrapped: 'none', words: readWrite, followsDefault: true };
const inNamespaces: ResourceFacts = { ...cluster, unwrapped: 'home' };
const byCapability: ResourceFacts = { ...cluster, words: {} };

export const resources: Readonly<Record<string, ResourceFacts>> = {
  // Who writes the access control of a place can give itself everything there: no default does.
  acl: { ...cluster, unwrapped: 'everywhere', followsDefault: false },
  agent: cluster,
  event: inNamespaces,
  host_volume: byCapability,
  /** The name that a workload is known by, which is no service of that name. */
  identity: inNamespaces,
  intention: inNamespaces,
  key: {
    ...inNamespaces,
    words: { read: ['read'], list: ['list', 'read'], write: ['list', 'read', 'write'] },
  },
  keyring: cluster,
  mesh: { ...cluster, fallback: 'operator', fallbackAdds: true },
  namespace: {
    ...byCapability,
    implies: {
      'host-volume-write': [
        ...['host-volume-create', 'host-volume-register', 'host-volume-delete'],
        'host-volume-read',
      ],
    },
  },
  node: { ...cluster, unwrapped: 'everywhere' },
  node_pool: byCapability,
  operator: cluster,
  peering: { ...cluster, fallback: 'operator' },
  plugin: { ...cluster, words: { list: ['list'], read: ['list', 'read'] } },
  query: inNamespaces,
  quota: cluster,
  service: inNamespaces,
  session: inNamespaces,
  variable: { ...inNamespaces, words: {}, implies: { read: ['list'], write: ['list'] } },
};

/**
 * What a rule holds of its resource; `undefined`: it denies. Of a word and a list of capabilities
 * both count.
 */
export function heldBy(
  resource: string,
  access: string | undefined,
  capabilities: readonly string[] = [],
): readonly string[] | undefined {
  if (access === 'deny' || capabilities.includes('deny')) return undefined;
  const { words, implies = {} } = resources[resource]!;
  const given = [...(words[access ?? ''] ?? []), ...capabilities];
  return [...new Set(given.flatMap((one) => [one, ...(implies[one] ?? [])]))];
}
