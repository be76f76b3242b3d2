import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/settings', title: 'Settings', load: () => import('./SettingsPage.svelte') },
];
