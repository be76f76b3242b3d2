/** The messages of a runtime during the download of an image: one JSON object a line. Pure. */
import { pullProgressLimits } from '../../limits.ts';

interface PullLine {
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly status?: string;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

const mebibyte = 2 ** 20;

export class PullProgress {
  #rest = '';
  #fault: string | undefined;
  readonly #layers = new Map<
    string,
    { currentBytes: number; totalBytes: number; isDone: boolean }
  >();

  /** The runtime's reason why the image cannot be downloaded. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get sentence(): string {
    const layers = [...this.#layers.values()];
    const done = layers.filter(({ isDone }) => isDone).length;
    const sum = (of: 'currentBytes' | 'totalBytes'): string =>
      (layers.reduce((total, layer) => total + layer[of], 0) / mebibyte).toFixed(1);
    return `${done} of ${layers.length} layers, ${sum('currentBytes')} of ${sum('totalBytes')} MiB`;
  }

  take(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, pullProgressLimits.lineBytesMax);
    for (const line of lines) this.#line(line);
  }

  end(): void {
    this.#line(this.#rest);
    this.#rest = '';
  }

  #line(text: string): void {
    const line = parse(text);
    if (line === undefined) return;
    const fault = line.errorDetail?.message ?? line.error;
    if (fault) this.#fault ??= fault;
    if (!line.id || line.status === undefined) return;
    const before = this.#layers.get(line.id) ?? { currentBytes: 0, totalBytes: 0, isDone: false };
    const { current = before.currentBytes, total = before.totalBytes } = line.progressDetail ?? {};
    const isDone = /^(pull complete|already exists|download complete)/i.test(line.status);
    if (!isDone && line.progressDetail?.total === undefined && !/^pulling fs/i.test(line.status))
      return;
    this.#layers.set(line.id, {
      currentBytes: isDone ? Math.max(total, current) : current,
      totalBytes: total,
      isDone: before.isDone || isDone,
    });
  }
}

function parse(text: string): PullLine | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Messages of runtimes and registries for an image that does not exist, or not for this user. */
const final =
  /manifest[^:]* unknown|manifest for .* not found|name unknown|repository .*not found|no such image|does not exist or may require|access to the resource is denied|unauthorized|authentication required|incorrect username or password|invalid reference|no matching manifest|no image found in/i;

/** Whether another try may succeed without a change of the job. */
export const pullFault = (reason: string, status: number): { readonly isRecoverable: boolean } => ({
  isRecoverable: !(status === 404 || status === 400 || final.test(reason)),
});
