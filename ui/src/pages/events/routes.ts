import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/events', title: 'Events', load: () => import('./EventsPage.svelte') },
];
