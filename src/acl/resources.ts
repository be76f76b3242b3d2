/**
 * The resources of the rules language. Decisions and explanations read this one table.
 * Source: docs/behaviour/access-control.md#how-rules-come-together.
 */
export interface ResourceFacts {
  /**
   * The reach of a rule outside `namespace` blocks in a policy of `default`: that namespace, or
   * every one. `none`: the resource is outside all namespaces, and only such rules have an effect.
   */
  readonly unwrapped: 'home' | 'everywhere' | 'none';
  /** The accesses of each policy word. Capabilities are accesses themselves. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** Capabilities that include others. */
  readonly implies?: Readonly<Record<string, readonly string[]>>;
  /** The resource whose rules decide where no rule of this one applies. */
  readonly fallback?: string;
  /** The fallback also decides where a rule gives too little, but not where a rule denies. */
  readonly fallbackAdds?: true;
  /** Whether the default policy `allow` applies to the resource. */
  readonly followsDefault: boolean;
}

const readWrite = { read: ['read'], write: ['read', 'write'] };

const cluster: ResourceFacts = { unwrapped: 'none', words: readWrite, followsDefault: true };
const inNamespaces: ResourceFacts = { ...cluster, unwrapped: 'home' };
const byCapability: ResourceFacts = { ...cluster, words: {} };

export const resources: Readonly<Record<string, ResourceFacts>> = {
  // Write access to `acl` leads to all other access in the same place, so no default gives it.
  acl: { ...cluster, unwrapped: 'everywhere', followsDefault: false },
  agent: cluster,
  event: inNamespaces,
  host_volume: byCapability,
  /** The identity of a workload, which is separate from a service of the same name. */
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
        'host-volume-create',
        'host-volume-register',
        'host-volume-delete',
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
 * The accesses that a rule gives; `undefined`: the rule denies. Policy word and capabilities add
 * up.
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
