import { type HclFault, renderFault } from '../language/hcl/errors.ts';
import { decode } from '../model/codec.ts';
import { RosterError } from '../model/errors.ts';
import { canonicalizeJob } from '../model/job/canonicalize.ts';
import { JobSchema, type WrittenJob } from '../model/job/job.ts';
import { jobWarnings, type Warning } from '../model/job/warnings.ts';
import type { ReadJob } from './job-file.ts';
import type { Screen } from './render/screen.ts';
import { warningsIn } from './render/warnings.ts';

/** A warning with its place, if that is known. */
interface PlacedWarning {
  readonly Message: string;
  /** JSON pointer into the job. */
  readonly Pointer?: string;
  /** The place in a file in HCL; line and column are 1-based. */
  readonly File?: string;
  readonly Line?: number;
  readonly Column?: number;
}

/**
 * The warnings of a server about the job of a file, each with its place in the file. The server sends
 * sentences only: the same rules, applied here, give the place of each sentence.
 */
export class FileWarnings {
  readonly #own: readonly Warning[];
  readonly #read: ReadJob;
  readonly #sentences: readonly string[];

  /** `text` is the warning text of the server; `undefined`: no server was asked. */
  constructor(read: ReadJob, text: string | undefined) {
    this.#read = read;
    this.#own = ownWarnings(read.registration.Job);
    this.#sentences =
      text === undefined ? this.#own.map(({ message }) => message) : warningsIn(text);
  }

  get placed(): readonly PlacedWarning[] {
    return this.#all.map(({ message, pointer, place }) => ({
      Message: message,
      ...(pointer !== undefined && { Pointer: pointer }),
      ...(place?.fileName !== undefined && { File: place.fileName }),
      ...(place !== undefined && { Line: place.line, Column: place.column }),
    }));
  }

  async print(screen: Screen): Promise<void> {
    for (const { message, place } of this.#all) {
      const text = place === undefined ? message : renderFault(place);
      await screen.line(screen.colors.yellow(`Warning: ${text}`));
    }
  }

  get #all(): { message: string; pointer: string | undefined; place: HclFault | undefined }[] {
    const known = new Map(this.#own.map((warning) => [warning.message, warning]));
    return this.#sentences.map((message) => {
      const own = known.get(message);
      return { message, pointer: own?.pointer, place: own && this.#read.placeOf(own) };
    });
  }
}

/** Empty if the job cannot be read, because then its faults are printed. */
function ownWarnings(given: WrittenJob): readonly Warning[] {
  try {
    const { value } = decode(JobSchema, given, { checkValues: false });
    return jobWarnings(canonicalizeJob(value), value);
  } catch (error) {
    if (error instanceof RosterError) return [];
    throw error;
  }
}
