import { chmod, readFile, rename, writeFile } from 'node:fs/promises';

/** Replaces a file whole: a reader finds the old text or the new one. Only this user reads it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await writeFile(temporary, text, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, path);
}

/** The file's JSON value; `undefined` when there is no file. Throws when it is damaged. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes the newest version of a text, one write at a time. A call during a write waits for the
 * next one, which serves all who wait.
 */
export class LatestFile {
  readonly #path: string;
  readonly #text: () => string;
  readonly #onError: (error: Error) => void;
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(path: string, text: () => string, onError: (error: Error) => void) {
    this.#path = path;
    this.#text = text;
    this.#onError = onError;
  }

  /** Resolves when what `text` gives now, or something newer, is in the file. Never rejects. */
  save(): Promise<void> {
    if (this.#writing === undefined) {
      this.#writing = this.#write();
      return this.#writing;
    }
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#next;
  }

  async #write(): Promise<void> {
    try {
      await replaceFile(this.#path, this.#text());
    } catch (error) {
      this.#onError(error as Error);
    } finally {
      if (this.#next === undefined) this.#writing = undefined;
    }
  }
}
