import type { ShownProblem } from '../../app/problems.ts';
import { router } from '../../app/router.svelte.ts';
import { here } from './access.ts';

const defaultNamespace = 'default';

/**
 * Tokens and roles of every namespace may link policies and roles of `default`, and a link does not tell where it leads:
 * a record that is not in the namespace of the page is looked for there.
 */
export function foundInDefault(problem: () => ShownProblem | undefined): void {
  $effect(() => {
    if (problem()?.status !== 404 || here().namespace === defaultNamespace) return;
    router.setQuery('namespace', defaultNamespace);
  });
}
