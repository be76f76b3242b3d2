import type { Route } from '../../app/router.svelte.ts';

export const routes: readonly Route[] = [
  { path: '/services', title: 'Services', load: () => import('./ServicesPage.svelte') },
  { path: '/services/:name', title: 'Service', load: () => import('./ServicePage.svelte') },
];
