import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/topology', title: 'Topology', load: () => import('./TopologyPage.svelte') },
];
