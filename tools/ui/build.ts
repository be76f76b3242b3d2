/** Bundles the web interface into a folder, packs its files, and holds the first page against its bound. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';

/** Not in limits: a bound of this build. The code that a browser needs before it shows the first page, compressed. */
const firstPageBytesMax = 250 * 1024;

/** Smaller files do not gain by it. */
const packedBytesMin = 512;

/** Files whose format is compressed already. */
const packedAlready = /\.(png|woff2|ico|webp|avif)$/;

export interface UiSizes {
  /** Every file, by its path: its bytes, and those of its Brotli form, if it has one. */
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly brotli: number }>;
  readonly firstPageBytes: number;
}

/** Read by Node itself, so that nothing is written beside it. */
export const configOf = (root: string): InlineConfig => ({
  configFile: join(root, 'ui/vite.config.ts'),
  configLoader: 'native',
});

/**
 * With the variable of a test or a developer, Vite would take the code of libraries for developers, which is slow and keeps
 * a trace of each change.
 */
async function forProduction(run: () => Promise<unknown>): Promise<void> {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** @throws Error if the first page is too large */
export async function buildUi(root: string, outdir: string): Promise<UiSizes> {
  await forProduction(() =>
    build({
      ...configOf(root),
      base: './',
      mode: 'production',
      logLevel: 'warn',
      build: { outDir: outdir, emptyOutDir: true },
    }),
  );
  const files = packAll(outdir);
  const firstPageBytes = firstPageOf(outdir).reduce(
    (sum, path) => sum + (files.get(path)?.brotli ?? 0),
    0,
  );
  if (firstPageBytes > firstPageBytesMax) {
    throw new Error(
      `the first page of the web interface needs ${firstPageBytes} bytes of compressed code, of ${firstPageBytesMax} at most: load more of it on demand, with import()`,
    );
  }
  return { files, firstPageBytes };
}

/** Writes the packed forms beside each file. The same bytes each time: neither format has a time in it here. */
function packAll(folder: string): UiSizes['files'] {
  const sizes = new Map<string, { bytes: number; brotli: number }>();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const size = { bytes: bytes.length, brotli: bytes.length };
    sizes.set(relative(folder, path), size);
    if (bytes.length < packedBytesMin || packedAlready.test(path)) continue;
    const brotli = brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    });
    size.brotli = brotli.length;
    // The agent writes the page itself.
    if (entry.name === 'index.html') continue;
    writeFileSync(`${path}.br`, brotli);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
  }
  return sizes;
}

/** The files that the page names, and those that they import statically. */
function firstPageOf(folder: string): string[] {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)];
  if (named.length === 0) throw new Error('the page of the web interface names no code');
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    if (!path.endsWith('.js')) return;
    const code = readFileSync(join(folder, path), 'utf8');
    for (const [, name] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
      add(`assets/${name}`);
    }
  };
  for (const [, path] of named) add(path!);
  return [...found];
}

/** The sizes as lines, the largest file first. */
export function describeSizes({ files, firstPageBytes }: UiSizes): string {
  const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
  const lines = [...files]
    .sort(([, left], [, right]) => right.brotli - left.brotli)
    .map(([path, { bytes, brotli }]) => `${kibibytes(bytes)} ${kibibytes(brotli)}  ${path}`);
  return [
    '      size  compressed  file',
    ...lines,
    `the first page: ${kibibytes(firstPageBytes).trim()} of ${kibibytes(firstPageBytesMax).trim()}, compressed`,
  ].join('\n');
}
