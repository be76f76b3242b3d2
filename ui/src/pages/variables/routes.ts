import type { Route } from '../../app/router.svelte.ts';

// The path of a variable has slashes and dots, so it stands in the query and not in the path of the address.
export const routes: readonly Route[] = [
  { path: '/variables', title: 'Variables', load: () => import('./VariablesPage.svelte') },
  { path: '/variables/item', title: 'Variable', load: () => import('./VariablePage.svelte') },
];
