import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  {
    path: '/allocations',
    title: 'Allocations',
    load: () => import('./AllocationsPage.svelte'),
  },
  {
    path: '/allocations/:id',
    title: 'Allocation',
    load: () => import('./AllocationPage.svelte'),
  },
];
