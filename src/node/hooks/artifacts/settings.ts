import { limits } from '../../../model/limits.ts';
import { type ArtifactSource, artifactSources } from '../../../model/task/files.ts';

const { artifact } = limits;

/** An operator's bounds. Sizes are in bytes, times in ms. */
export interface ArtifactSettings {
  readonly httpTimeoutMs: number;
  readonly gitTimeoutMs: number;
  readonly downloadBytesMax: number;
  readonly filesMax: number;
  readonly unpackedBytesMax: number;
  readonly ratioMax: number;
  readonly sources: readonly ArtifactSource[];
}

export const artifactDefaults: ArtifactSettings = {
  httpTimeoutMs: artifact.httpTimeoutMs,
  gitTimeoutMs: artifact.gitTimeoutMs,
  downloadBytesMax: artifact.downloadBytesMax,
  filesMax: artifact.filesMax,
  unpackedBytesMax: artifact.unpackedBytesMax,
  ratioMax: artifact.ratioMax,
  sources: artifactSources,
};
