import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/namespaces', title: 'Namespaces', load: () => import('./NamespacesPage.svelte') },
];
