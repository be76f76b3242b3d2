import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/', title: 'Overview', load: () => import('./OverviewPage.svelte') },
];
