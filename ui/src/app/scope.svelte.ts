/** The namespace and the partition whose records the lists show. They stand in the address of every page. */
import { router } from './router.svelte.ts';
import { lasting } from './stored.ts';

export const everyNamespace = '*';
const defaultPartition = 'default';

const remembered = $state({
  namespace: lasting.read('namespace') ?? everyNamespace,
  partition: lasting.read('partition') ?? defaultPartition,
});

function choose(name: 'namespace' | 'partition', value: string, fallback: string): void {
  remembered[name] = value;
  lasting.write(name, value);
  router.setQuery(name, value === fallback ? undefined : value);
}

/** Puts what was chosen on another page into the address of this one, so that it shows the same to whoever opens it. */
export function keepScopeInAddress(): void {
  for (const [name, value, fallback] of [
    ['namespace', remembered.namespace, everyNamespace],
    ['partition', remembered.partition, defaultPartition],
  ] as const) {
    if (value !== fallback && router.query(name) === undefined) router.setQuery(name, value);
  }
}

export const scope = {
  /** `*` for all that the token may read. */
  get namespace(): string {
    return router.query('namespace') ?? remembered.namespace;
  },
  set namespace(value: string) {
    choose('namespace', value, everyNamespace);
  },
  get partition(): string {
    return router.query('partition') ?? remembered.partition;
  },
  set partition(value: string) {
    choose('partition', value, defaultPartition);
  },
  /** For writes, which need one namespace. */
  get writeNamespace(): string {
    return scope.namespace === everyNamespace ? 'default' : scope.namespace;
  },
  get isEveryNamespace(): boolean {
    return scope.namespace === everyNamespace;
  },
};
