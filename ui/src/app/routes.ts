import type { Route } from './router.svelte.ts';

/** Each folder of pages has a small file with its routes; the pages themselves are loaded when they are visited. */
const files = import.meta.glob<readonly Route[]>('../pages/*/routes.ts', {
  eager: true,
  import: 'routes',
});

export const routes: readonly Route[] = Object.values(files).flat();
