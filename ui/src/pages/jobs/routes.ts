import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/jobs', title: 'Jobs', load: () => import('./JobsPage.svelte') },
];
