import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/nodes', title: 'Nodes', load: () => import('./NodesPage.svelte') },
  { path: '/nodes/:id', title: 'Node', load: () => import('./NodePage.svelte') },
];
