const carriageReturn = 13;
const newLine = 10;
const dot = '.'.charCodeAt(0);

/**
 * Finds the way out in what a person types at a terminal whose every key goes elsewhere: at the
 * beginning of a line the escape character and a dot. The character twice sends it once; before
 * any other it is sent as it is.
 */
export class EscapeFilter {
  readonly #escape: number;
  #atLineStart = true;
  /** The character was typed, and it is not known yet what it means. */
  #isHeld = false;

  /** One character; empty: there is no way out. */
  constructor(character: string) {
    this.#escape = character === '' ? -1 : character.charCodeAt(0);
  }

  /** What goes on to the command, and whether the person wants to leave. */
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
