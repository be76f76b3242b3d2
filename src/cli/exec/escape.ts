const carriageReturn = 13;
const newLine = 10;
const dot = '.'.charCodeAt(0);

/**
 * Finds the escape sequence in the typed text of a terminal session: at the
 * beginning of a line the escape character and a dot. The character typed twice is sent once; before
 * any other character it is sent unchanged.
 */
export class EscapeFilter {
  readonly #escape: number;
  #atLineStart = true;
  /** The escape character was typed, and the next character decides. */
  #isHeld = false;

  /** One character; empty: no escape sequence. */
  constructor(character: string) {
    this.#escape = character === '' ? -1 : character.charCodeAt(0);
  }

  /** The text for the command, and whether the user ends the session. */
  filter(typed: Uint8Array): { readonly data: Uint8Array; readonly leaves: boolean } {
    const sent: number[] = [];
    for (const byte of typed) {
      if (this.#isHeld) {
        this.#isHeld = false;
        if (byte === dot) return { data: Uint8Array.from(sent), leaves: true };
        sent.push(this.#escape);
        if (byte === this.#escape) {
          this.#atLineStart = false;
          continue;
        }
      } else if (this.#atLineStart && byte === this.#escape) {
        this.#isHeld = true;
        continue;
      }
      sent.push(byte);
      this.#atLineStart = byte === carriageReturn || byte === newLine;
    }
    return { data: Uint8Array.from(sent), leaves: false };
  }
}
