import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/partitions', title: 'Partitions', load: () => import('./PartitionsPage.svelte') },
];
