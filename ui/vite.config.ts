/** How the web interface is bundled, and served while it is developed (`npm run ui`). */
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin, UserConfig } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Of a running agent, whose API the pages of the development server use. */
const agent = process.env.ROSTER_ADDR ?? 'http://127.0.0.1:4720';

/** The agent writes the `<base>` of each page; the development server always serves below `/ui/`. */
const developmentBase: Plugin = {
  name: 'development base',
  apply: 'serve',
  transformIndexHtml: (html) => html.replace('<base href="./">', '<base href="/ui/">'),
};

export default {
  root,
  cacheDir: '../node_modules/.cache/roster/vite',
  plugins: [
    svelte({ configFile: fileURLToPath(new URL('svelte.config.js', import.meta.url)) }),
    developmentBase,
  ],
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    // Images in the text of a program are loaded by everybody.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    // `tools/ui/build.ts` has the bound that counts.
    chunkSizeWarningLimit: 2_000,
    license: { fileName: 'notices.md' },
  },
  server: {
    host: '127.0.0.1',
    port: 4721,
    // The name of the host stays, so that the agent sees the page as its own.
    proxy: { '/v1': { target: agent, ws: true, changeOrigin: false } },
    fs: { allow: ['..'] },
  },
} satisfies UserConfig;
