/** Bundles the web interface. */
import { join } from 'node:path';
import { build, type InlineConfig } from 'vite';

/** Read by Node itself, so that nothing is written beside it. */
export const configOf = (root: string): InlineConfig => ({
  configFile: join(root, 'ui/vite.config.ts'),
  configLoader: 'native',
});

export async function buildUi(root: string, outdir: string): Promise<void> {
  await build({
    ...configOf(root),
    base: './',
    logLevel: 'warn',
    build: { outDir: outdir, emptyOutDir: true },
  });
}
