import { limits } from '../../../model/limits.ts';
import { type ArtifactSource, artifactSources } from '../../../model/task/files.ts';

const { artifact } = limits;

/** What an operator may bound otherwise. Sizes in bytes, times in ms. */
export interface ArtifactSettings {
  readonly httpTimeoutMs: number;
  readonly gitTimeoutMs: number;
  readonly downloadBytesMax: number;
  readonly filesMax: number;
  readonly unpackedBytesMax: number;
  readonly ratioMax: number;
  /** Kinds of sources that are fetched at all. */
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
