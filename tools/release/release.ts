/** Every file of a release, and how each is made. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../build.ts';
import { buildUi } from '../ui/build.ts';
import { billOfMaterials } from './bill.ts';
import { debianArchitecture, makeDebianPackage } from './debian.ts';
import { makeExecutable } from './executable.ts';
import { makeImage } from './image.ts';
import { packForNpm } from './npm-package.ts';
import { layOutProgram } from './program.ts';
import { provenanceOf } from './provenance.ts';
import { type Source, sha256Of } from './source.ts';
import { writeTar } from './tar.ts';

export const parts = [
  'npm',
  'archive',
  'executable',
  'deb',
  'image',
  'bill',
  'provenance',
] as const;

export type Part = (typeof parts)[number];

interface Making extends Source {
  /** The bundle. */
  readonly dist: string;
  /** The files that the bundle was made of, by their paths in the checkout. */
  readonly bundled: ReadonlySet<string>;
  /** An empty folder for what the file is made of. */
  readonly folder: string;
  /** The folder of the release. */
  readonly out: string;
  /** The file to make. */
  readonly path: string;
  /** Makes another file of the release, unless it is made. Returns its path. */
  readonly made: (part: Part) => Promise<string>;
}

interface Kind {
  readonly nameOf: (source: Source) => string;
  readonly make: (making: Making) => unknown;
}

const kinds: Readonly<Record<Part, Kind>> = {
  npm: {
    nameOf: ({ build }) => `roster-${build.version}.tgz`,
    make: ({ dist, ...making }) => packForNpm(making, dist, making),
  },
  archive: {
    nameOf: ({ build, platform }) => `roster-${build.version}-${platform}.tar.gz`,
    async make({ dist, folder, path, ...source }) {
      layOutProgram(source, dist, folder);
      for (const name of ['LICENSE', 'README.md', 'docs', 'examples']) {
        cpSync(join(source.root, name), join(folder, name), { recursive: true });
      }
      const { build, platform, epochS } = source;
      await writeTar(folder, path, { epochS, prefix: `roster-${build.version}-${platform}/` });
    },
  },
  executable: {
    nameOf: ({ build, platform }) => `roster-${build.version}-${platform}-executable`,
    make: ({ dist, ...making }) => makeExecutable(making, dist, making),
  },
  deb: {
    nameOf: ({ build, platform }) => `roster_${build.version}_${debianArchitecture(platform)}.deb`,
    make: ({ dist, ...making }) => makeDebianPackage(making, dist, making),
  },
  image: {
    nameOf: ({ build, platform }) => `roster-${build.version}-${platform}-image.tar`,
    make: async ({ made, ...making }) => makeImage(making, await made('executable'), making),
  },
  bill: {
    nameOf: ({ build, platform }) => `roster-${build.version}-${platform}.cdx.json`,
    make: ({ path, dist, bundled, ...source }) =>
      writeFileSync(path, billOfMaterials(source, { dist, bundled })),
  },
  provenance: {
    nameOf: ({ build, platform }) => `roster-${build.version}-${platform}-provenance.json`,
    make: async ({ path, ...source }) => writeFileSync(path, await provenanceOf(source)),
  },
};

interface ReleaseOptions {
  /** The folder of the files. */
  readonly out: string;
  readonly only: readonly Part[];
  readonly tell?: (path: string) => void;
}

/** Makes the parts of the release, and the list of their checksums. */
export async function makeRelease(source: Source, { out, only, tell = () => {} }: ReleaseOptions) {
  const work = mkdtempSync(join(tmpdir(), 'roster-release-'));
  mkdirSync(out, { recursive: true });
  const paths = new Map<Part, string>();
  try {
    const dist = join(work, 'dist');
    const bundled = new Set<string>();
    await bundle(source.root, dist, { build: source.build, note: (path) => bundled.add(path) });
    await buildUi(source.root, join(dist, 'ui'));
    const made = async (part: Part): Promise<string> => {
      const known = paths.get(part);
      if (known !== undefined) return known;
      const { nameOf, make } = kinds[part];
      const path = join(out, nameOf(source));
      const folder = join(work, part);
      mkdirSync(folder);
      rmSync(path, { force: true });
      await make({ ...source, dist, bundled, folder, out, path, made });
      paths.set(part, path);
      tell(path);
      return path;
    };
    for (const part of only) await made(part);
    await writeChecksums(out, [...paths.values()]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** In the form that `sha256sum --check` reads. */
async function writeChecksums(out: string, paths: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const path of paths.toSorted()) {
    lines.push(`${await sha256Of(path)}  ${path.slice(out.length + 1)}\n`);
  }
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}
