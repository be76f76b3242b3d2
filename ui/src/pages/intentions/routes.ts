import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/intentions', title: 'Intentions', load: () => import('./IntentionsPage.svelte') },
];
