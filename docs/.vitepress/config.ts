import { defineConfig } from 'vitepress';
import { adapt, navigation, shownPath } from '../../tools/site/pages.ts';

/** The documentation as a static site. `npm run docs` makes it; `docs/README.md` is its table of contents. */
export default defineConfig({
  lang: 'en',
  title: 'Roster',
  description: 'One control plane for a fleet: access, services, jobs.',
  outDir: '../site',
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites: shownPath,
  // Pages are read from a folder, without a server that knows their names.
  cleanUrls: false,
  // The index of the search is a file of its own, which the first search loads.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: adapt,
  },
  themeConfig: {
    ...navigation(),
    search: { provider: 'local' },
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
    footer: { message: 'Apache-2.0' },
  },
});
