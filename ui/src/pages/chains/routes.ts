import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/chains/:service', title: 'Discovery chain', load: () => import('./ChainPage.svelte') },
];
