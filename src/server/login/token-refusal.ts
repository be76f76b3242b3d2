/** A credential that a method does not accept. The sentence names the fault. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal';
  /** Whether the caller may read the sentence: true if it says nothing of the method. */
  readonly isTold: boolean;

  constructor(sentence: string, { isTold = false } = {}) {
    super(sentence);
    this.isTold = isTold;
  }
}
