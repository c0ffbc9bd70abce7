/** The end of a batch of calls. */
/**
 * The defect that ends what a call of a batch, or an agent within it, would begin after another call has ended the run. `at` is the
 * time of that other call.
 */
export class Halted {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}
