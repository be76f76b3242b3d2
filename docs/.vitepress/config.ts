import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { adapt } from '../../tools/site/markdown.ts';
import { navigation, shownPath } from '../../tools/site/pages.ts';

/** That of the web interface, in the address of the picture, so that pages of any folder have it. */
const icon = readFileSync(new URL('../../ui/public/icon.svg', import.meta.url), 'utf8');
const iconAddress = `data:image/svg+xml,${encodeURIComponent(icon)}`;

/**
 * Words without a meaning of their own are not searched for: their letters would be found everywhere. The function runs
 * in the browser as well, from its text.
 */
const processTerm = (term: string): string | null =>
  /^(a|an|and|are|at|be|by|do|does|for|from|how|i|if|in|is|it|my|not|of|on|or|that|the|this|to|what|with)$/i.test(
    term,
  )
    ? null
    : term.toLowerCase();

/** The documentation as a static site. `npm run docs` makes it; `docs/README.md` is its table of contents. */
export default defineConfig({
  lang: 'en',
  title: 'Roster',
  description: 'One control plane for a fleet: access, services, jobs.',
  head: [['link', { rel: 'icon', href: iconAddress }]],
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
    // An address in a text is no page.
    linkify: false,
  },
  themeConfig: {
    ...navigation(),
    logo: iconAddress,
    search: { provider: 'local', options: { miniSearch: { options: { processTerm } } } },
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
    notFound: {
      title: 'No such page',
      quote:
        'The address is not that of a page of this documentation. The search (/) finds pages by their words.',
      linkText: 'To the first page',
    },
    footer: { message: 'Apache-2.0' },
  },
});
