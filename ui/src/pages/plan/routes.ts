import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/plan', title: 'Plan a job', load: () => import('./PlanJobPage.svelte') },
  { path: '/plans', title: 'Plans', load: () => import('./PlansPage.svelte') },
  { path: '/plans/:id', title: 'Plan', load: () => import('./PlanPage.svelte') },
];
