/**
 * Numbers texts from 0, in the order of first use, so that loops compare numbers instead of text.
 */
export class Numbering {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.length;
    this.#numbers.set(name, number);
    this.names.push(name);
    return number;
  }
}
