import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/jobs/:namespace/:id', title: 'Job', load: () => import('./JobPage.svelte') },
];
