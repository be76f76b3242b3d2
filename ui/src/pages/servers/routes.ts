import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/servers', title: 'Servers', load: () => import('./ServersPage.svelte') },
];
